"""Every folder under metrics/ is a whole evaluate module and Hub Space; its examples run."""

import doctest
import importlib
from pathlib import Path

import evaluate
import pytest
import yaml

import temporal_rumors
from temporal_rumors import plugin

ROOT = Path(__file__).parent.parent.parent / "metrics"
NAMES = plugin.metric_names()


def test_every_folder_is_a_metric():
    assert sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__") == NAMES
    assert "macro_prf" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_folder_is_a_hub_space(name):
    header = yaml.safe_load((ROOT / name / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["title"] == name
    assert header["sdk"] == "gradio"
    assert (ROOT / name / header["app_file"]).is_file()
    assert (ROOT / name / "requirements.txt").is_file()
    assert "evaluate" in header["tags"]


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_examples_hold(name):
    module = evaluate.load(name)
    examples = doctest.DocTestParser().get_doctest(
        module.inputs_description, {"evaluate": evaluate, "temporal_rumors": temporal_rumors}, name, None, 0
    )
    result = doctest.DocTestRunner().run(examples)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_scores_are_a_plain_function_of_the_package(name):
    scoring = importlib.import_module(f"{plugin.METRICS_PACKAGE}.{name}.scoring")
    assert getattr(temporal_rumors, name) is getattr(scoring, name)
