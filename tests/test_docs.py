"""The examples of the README, the docs and the cards run as they are printed, and the cards' tables are true."""

import re
from pathlib import Path

import pytest
import tiny_checkpoints
import update_cards

from temporal_rumors import benchmark, listing

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("*/*/README.md")),
]
NAMES = benchmark.names()
# Comes with the package.
SAMPLE = "sample_temporal"


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "code"),
    [
        pytest.param(page, code, id=f"{page.relative_to(ROOT)}-{i}")
        for page in PAGES
        for i, code in enumerate(blocks(page))
    ],
)
def test_an_example_runs_as_it_is_printed(page, code, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if any(name in code for name in NAMES if name != SAMPLE):
        monkeypatch.setenv("TEMPORAL_RUMORS_DATA", str(request.getfixturevalue("data_dir")))
    if "my-checkpoint" in code:
        pytest.importorskip("torch")
        tiny_checkpoints.bert(tmp_path / "my-checkpoint", positions=512)
    exec(compile(code, str(page), "exec"), {"__name__": "example"})


def test_there_are_examples_to_run():
    assert all(blocks(page) for page in PAGES if page.parent.parent.name in ("dataset_scripts", "metrics"))


@pytest.mark.parametrize("name", NAMES)
def test_the_tables_of_splits_in_a_card_are_true(name, request):
    entries = listing.listing([name], None if name == SAMPLE else request.getfixturevalue("data_dir"))
    card = (benchmark.folder(name) / "README.md").read_text(encoding="utf-8")
    for entry in entries:
        assert update_cards.split_table(entry) in card, "run tools/update_cards.py"
    assert card.count("<!-- splits") == len(entries)


def test_a_card_without_a_place_for_its_table_is_refused():
    (entry,) = listing.listing([SAMPLE])
    with pytest.raises(ValueError, match="has no <!-- splits -->"):
        update_cards.with_table("# A card", entry)
