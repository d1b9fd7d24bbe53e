"""Exported benchmarks hold the same posts as ours, and other programs read them without us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from sklearn.metrics import f1_score

from temporal_rumors import benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.export import export, lm_eval_helpers

SAMPLE = benchmark.get("sample_temporal")
WITHOUT_US = """
import importlib.abc, json, sys
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        assert not name.startswith("temporal_rumors"), name
sys.meta_path.insert(0, Refuse())
from datasets import get_dataset_config_names, load_dataset
names = get_dataset_config_names(sys.argv[1])
data = load_dataset(sys.argv[1], sys.argv[2])
rows = {part: [[row["id"], row["text"], row["label"], str(row["created_at"])] for row in data[part]] for part in data}
print(json.dumps([names, data["train"].features["label"].names, rows]))
"""


def test_an_exported_benchmark_is_loaded_without_us_and_holds_the_same_posts(tmp_path: Path) -> None:
    configs = export("sample_temporal", tmp_path / "out")
    assert configs == list(SAMPLE.configs)
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT_US, str(tmp_path / "out"), "loo_zoo-escape"],
        env=os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names, classes, rows = json.loads(out)
    assert names == configs
    assert classes == list(SAMPLE.classes)
    ours = datasets.load_dataset("sample_temporal", "loo_zoo-escape")
    for part, data in ours.items():
        assert rows[part] == [[row["id"], row["text"], row["label"], str(row["created_at"])] for row in data]


def test_the_card_of_an_export_is_ours_with_the_places_of_its_parts(tmp_path: Path) -> None:
    export("sample_temporal", tmp_path, protocols=["random_fold0", "chrono"])
    _, head, body = (tmp_path / "README.md").read_text().split("---\n", 2)
    found = yaml.safe_load(head)
    assert [config["config_name"] for config in found["configs"]] == ["random_fold0", "chrono"]
    assert [config.get("default", False) for config in found["configs"]] == [False, True]
    assert found["language"] == ["en"]
    assert body.startswith((benchmark.folder("sample_temporal") / "README.md").read_text().split("---\n", 2)[2][:200])
    for config in found["configs"]:
        assert all((tmp_path / file["path"]).is_file() for file in config["data_files"])


def test_an_export_gives_the_same_bytes_again(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        export("sample_temporal", tmp_path / folder, "lm-eval", ["chrono"])
    one, two = (
        {p.relative_to(tmp_path / f): p.read_bytes() for p in (tmp_path / f).rglob("*.*")} for f in ("one", "two")
    )
    assert one == two


def test_wrong_names_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    for arguments, told in (
        (("sample", tmp_path), "did you mean 'sample_temporal'"),
        (("sample_temporal", tmp_path, "csv"), "unknown format 'csv'; valid ones: parquet, lm-eval"),
        (("sample_temporal", tmp_path, "parquet", ["chron"]), "did you mean 'chrono'"),
    ):
        with pytest.raises(UserError, match=told):
            export(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "classes", "expected"),
    [
        (" Rumour", ["non-rumour", "rumour"], 1),
        (" non-rumour. It is no rumour", ["non-rumour", "rumour"], 0),
        ("it is unverified, not true", ["true", "false", "unverified"], 2),
        (" untrue", ["true", "false"], -1),
        ("", ["true", "false"], -1),
        (" no idea\ntrue", ["true", "false"], 0),
    ],
)
def test_a_written_answer_is_the_class_that_it_names_first(text: str, classes: list[str], expected: int) -> None:
    found = lm_eval_helpers.written({"label": expected, "classes": classes}, [text])
    assert (found["macro_f1"][1], found["answered"], found["acc"]) == (expected, expected >= 0, True)
    assert lm_eval_helpers.written({"label": 0, "classes": classes}, [text])["acc"] is (expected == 0)


def test_the_likeliest_class_is_the_answer_and_scores_are_macro_averaged() -> None:
    docs = [({"label": i % 2, "classes": ["a", "b"]}, [(-1.0, False), (-2.0 + i % 3, True)]) for i in range(10)]
    found = [lm_eval_helpers.ranked(doc, results) for doc, results in docs]
    references, predictions = [i % 2 for i in range(10)], [int(-2 + i % 3 > -1) for i in range(10)]
    assert [answer["acc"] for answer in found] == [a == b for a, b in zip(references, predictions, strict=True)]
    expected = f1_score(references, predictions, average="macro")
    assert lm_eval_helpers.macro_f1([answer["macro_f1"] for answer in found]) == pytest.approx(expected)
    assert lm_eval_helpers.macro_f1([(0, -1, 2), (0, 0, 2)]) == pytest.approx((2 / 3) / 2)


def test_lm_eval_runs_the_tasks_and_draws_examples_from_the_training_part(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    from tiny_checkpoints import gpt2

    gpt2(tmp_path / "model", language_model=True)
    tasks = export("sample_temporal", tmp_path / "tasks", "lm-eval", ["chrono_stratified"])
    assert tasks == ["sample_temporal_chrono_stratified", "sample_temporal_chrono_stratified_generate"]
    subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval", "run", "--include_path", "tasks", "--tasks", ",".join(tasks)),
            *("--model", "hf", "--model_args", "pretrained=model", "--device", "cpu", "--batch_size", "8"),
            *("--num_fewshot", "2", "--limit", "12", "--output_path", "out", "--log_samples"),
        ],
        env=os.environ | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    (path,) = tmp_path.glob("out/**/results_*.json")
    results = json.loads(path.read_text())["results"]
    parts = datasets.load_dataset("sample_temporal", "chrono_stratified")
    texts = {part: set(data["text"]) for part, data in parts.items()}
    for task in tasks:
        assert 0 <= results[task]["macro_f1,none"] <= 1
        (samples,) = tmp_path.glob(f"out/**/samples_{task}_2*.jsonl")
        rows = [json.loads(line) for line in samples.read_text().splitlines()]
        assert len(rows) == 12
        for row in rows:
            shown = row["arguments"]["gen_args_0"]["arg_0"].split("Post: ")[1:]
            posts = [each.split("\nWhich is it: ")[0] for each in shown]
            assert len(posts) == 3
            assert set(posts[:2]) <= texts["train"]
            assert posts[2] in texts["test"]
        right = [row["acc"] for row in rows]
        assert results[task]["acc,none"] == pytest.approx(sum(right) / len(right))


def test_conversations_are_told_to_the_model(data_dir: Any, tmp_path: Path, load_yaml: Callable[[Path], Any]) -> None:
    tasks = export("rumoureval2017", tmp_path, "lm-eval", ["official"], data_dir)
    assert tasks[0] == "rumoureval2017_stance"
    found = load_yaml(tmp_path / "rumoureval2017_stance.yaml")
    assert "It replies to: {{parent_text or '-'}}" in found["doc_to_text"]
    assert found["doc_to_choice"] == ["support", "deny", "query", "comment"]
    parts = lm_eval_helpers_at(tmp_path).load("stance")
    assert (len(parts["train"]), len(parts["test"])) == (4238, 1049)


def lm_eval_helpers_at(folder: Path) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("helpers", folder / "helpers.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def load_yaml() -> Callable[[Path], Any]:
    """A reader of task files, in which a tag stands before names of functions."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: node.value)
    return lambda path: yaml.load(path.read_text(), Loader)
