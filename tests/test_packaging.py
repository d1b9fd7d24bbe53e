"""A new benchmark, metric or model folder is part of the next install without being listed anywhere."""

import runpy
from pathlib import Path

import setuptools

from temporal_rumors import benchmark, models, plugin

ROOT = Path(__file__).parent.parent


def test_every_folder_is_packaged(monkeypatch):
    monkeypatch.chdir(ROOT)
    arguments = {}
    monkeypatch.setattr(setuptools, "setup", arguments.update)
    runpy.run_path("setup.py")
    packages = arguments["packages"]
    assert len(set(packages)) == len(packages)
    assert {f"{benchmark.PACKAGE}.{name}" for name in benchmark.names()} <= set(packages)
    assert {f"{plugin.METRICS_PACKAGE}.{name}" for name in plugin.metric_names()} <= set(packages)
    assert {f"temporal_rumors.models.{name}" for name in models.available()} <= set(packages)
    suffixes = {pattern.removeprefix("*") for pattern in arguments["package_data"][""]}
    shipped = [p for root in ("src", "metrics", "dataset_scripts") for p in (ROOT / root).rglob("*.*") if p.is_file()]
    data = {p.suffix for p in shipped if "egg-info" not in str(p)} - {".py", ".pyc", ".typed"}
    assert data <= suffixes
