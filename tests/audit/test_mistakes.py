"""The error analysis counts what the records say, post by post."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rich.console import Console

from temporal_rumors import benchmark
from temporal_rumors.audit.mistakes import mistakes, tables
from temporal_rumors.errors import UserError
from temporal_rumors.experiment.execute import Settings, execute
from temporal_rumors.experiment.grid import grid
from temporal_rumors.experiment.store import RunStore
from temporal_rumors.protocols import group_of

SAMPLE = benchmark.get("sample_temporal")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("runs")
    runs = grid(["sample_temporal"], ["lr"], ["random", "chrono", "chrono_stratified"])
    assert all(outcome.path for outcome in execute(runs, Settings(str(folder))))
    return RunStore(folder).read()


def test_counts_are_those_of_a_comparison_of_all_pairs(records: list[dict[str, Any]]) -> None:
    posts = SAMPLE.posts()
    row_of = {id: row for row, id in enumerate(posts.ids.tolist())}
    found = {row.protocol: row for row in mistakes(records).rows}
    assert set(found) == {"random", "chrono", "chrono_stratified"}
    for group, row in found.items():
        expected, copied = {"right": 0, "wrong": 0, "copied_right": 0, "copied_wrong": 0}, set()
        for record in records:
            if group_of(record["protocol"]) != group:
                continue
            train = [posts.texts[i] for i in SAMPLE.split(posts, record["protocol"]).train]
            answers = record["predictions"]
            for id, reference, answer in zip(
                answers["ids"], answers["references"], answers["predictions"], strict=True
            ):
                kind = "right" if reference == answer else "wrong"
                expected[kind] += 1
                text = posts.texts[row_of[id]]
                if len(text) > 20 and any(
                    len(other) > 20 and Levenshtein.distance(text, other, score_cutoff=20) <= 20 for other in train
                ):
                    expected[f"copied_{kind}"] += 1
                    copied.add((id, record["protocol"]))
        assert {name: getattr(row, name) for name in expected} == expected
        assert {(post.id, post.protocol) for post in row.copied} == copied
        for post in row.copied:
            distance = Levenshtein.distance(posts.texts[row_of[post.id]], posts.texts[row_of[post.nearest]])
            assert post.distance == distance <= 20
    assert found["random"].copied_right > 10 * found["chrono"].copied_right


def test_examples_are_clusters_of_both_kinds_and_what_is_shown_holds_them(records: list[dict[str, Any]]) -> None:
    found = mistakes(records, examples=3)
    (row,) = (row for row in found.rows if row.protocol == "random")
    wrong = [cluster for cluster in row.examples if cluster.wrong]
    assert 0 < len(row.examples) - len(wrong) <= 3
    for cluster in row.examples:
        assert cluster.right + cluster.wrong == cluster.test > 0 < cluster.train
    console = Console(width=80, record=True, file=Path("/dev/null").open("w"), markup=False)  # noqa: SIM115
    for block in tables(found):
        console.print(block)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(row.examples[0].text.split()) in " ".join(text.split())
    assert json.loads(json.dumps(found.to_json()))["rows"][0]["model"] == "lr"
    assert mistakes(reversed(records)).to_json() == mistakes(records).to_json()


def test_no_runs_and_runs_on_other_posts_are_refused(records: list[dict[str, Any]]) -> None:
    with pytest.raises(UserError, match="there are no runs"):
        mistakes([])
    with pytest.raises(UserError, match="the run was made on data"):
        mistakes([{**records[0], "data_digest": "0" * 64}])


def test_the_papers_table_6_comes_out(data_dir: Path, tmp_path: Path) -> None:
    runs = grid(["twitter15_temporal", "pheme_temporal"], ["lr"], ["chrono"])
    for outcome in execute(runs, Settings(str(tmp_path), str(data_dir))):
        assert outcome.path, outcome.error
    rows = mistakes(RunStore(tmp_path).read(), data_dir, short="include").rows
    counts = {row.benchmark: (row.right + row.wrong, row.copied_right + row.copied_wrong) for row in rows}
    assert counts == {"twitter15_temporal": (148, 2), "pheme_temporal": (1161, 13)}
    assert np.all([0 <= row.copied_wrong <= row.wrong for row in rows])
