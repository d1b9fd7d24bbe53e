"""Finds the packages, so that a new benchmark, metric or model is one new folder and nothing else."""

from pathlib import Path

from setuptools import find_packages, setup

# These stand at the top so that each of their folders can be pushed to the Hub as it is.
HUB = {"temporal_rumors.metrics": "metrics", "temporal_rumors.dataset_scripts": "dataset_scripts"}

folders = [f"{package}.{path.parent.name}" for package, root in HUB.items() for path in Path(root).glob("*/README.md")]
setup(
    package_dir={"": "src", **HUB},
    packages=[*find_packages("src"), *HUB, *folders],
    package_data={"": ["*.md", "*.csv", "*.json", "*.txt", "*.jinja", "py.typed"]},
)
