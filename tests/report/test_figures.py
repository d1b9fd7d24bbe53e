"""The figures: valid SVG, the same bytes whatever the user's settings, and robust to odd corpora and names."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest

from temporal_rumors.report import figures, summarise

Record = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"


def both(records: list[Record]) -> list[str]:
    summary = summarise(records)
    drawn = [figures.timeline(summary, data) for data in summary.timelines]
    return drawn + [figures.inflation(summary, name) for name in summary.titles]


def test_figures_are_well_formed_and_carry_no_date(grid: list[Record]) -> None:
    drawn = both(grid)
    assert len(drawn) == 4
    for svg in drawn:
        assert ET.fromstring(svg).tag == f"{SVG}svg"
        assert "dc:date" not in svg


def test_figures_do_not_depend_on_the_users_settings_and_do_not_change_them(grid: list[Record]) -> None:
    expected = both(grid)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "timezone": "Asia/Tokyo", "svg.fonttype": "none"}):
        before = dict(matplotlib.rcParams)
        assert both(grid) == expected
        assert dict(matplotlib.rcParams) == before


def test_the_timeline_shows_the_cuts_it_is_given(make_record: Callable[..., Record]) -> None:
    record = make_record(protocol="chrono_stratified")
    moved = make_record(protocol="chrono_stratified")
    moved["timeline"]["cuts"]["rumour"][1] = "2015-02-01T00:00:00Z"
    uncut = make_record(protocol="random_fold0")
    drawn = {both([r])[0] for r in (record, moved, uncut)}
    assert len(drawn) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"cuts": {"non-rumour": [None, "2015-01-08T12:30:00Z"], "rumour": [None, None]}},
        {"end": "2014-08-09T22:33:06Z", "cuts": {}},
        {"counts": {"non-rumour": [0] * 40, "rumour": [3] * 40}},
        {"counts": {f"class {i}": [i] * 40 for i in range(12)}, "cuts": {}},
    ],
    ids=["class without a part", "one moment", "class without posts", "many classes"],
)
def test_odd_corpora_are_drawn(make_record: Callable[..., Record], change: dict[str, Any]) -> None:
    record = make_record(protocol="chrono")
    record["timeline"] |= change
    for svg in both([record]):
        ET.fromstring(svg)


def test_a_corpus_without_times_has_no_timeline(make_record: Callable[..., Record]) -> None:
    record = make_record(protocol="random_fold0")
    record["timeline"] = {"start": None, "end": None, "counts": {}, "cuts": {}}
    assert len(both([record])) == 1


def test_names_are_drawn_as_text_not_as_formulas_or_markup(make_record: Callable[..., Record]) -> None:
    for name in ("a$\\frac{$", "b$c$", "<script>&", "x_y^z"):
        for svg in both([make_record(model=name, benchmark=name)]):
            ET.fromstring(svg)
            assert "<script" not in svg
