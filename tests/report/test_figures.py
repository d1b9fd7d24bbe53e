"""The figures: valid SVG, the same bytes whatever the user's settings, and robust to odd corpora and names."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest

from temporal_rumors.report import figures, summarise
from temporal_rumors.report.tables import blocks

Record = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"


def both(records: list[Record]) -> list[str]:
    summary = summarise(records)
    drawn = [figures.timeline(summary, data) for data in summary.timelines]
    return drawn + [figures.inflation(block) for block in blocks(summary)]


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


def bars(record: Record) -> dict[str, list[tuple[str, str, str]]]:
    """Lane -> part, first and last day of each of its bars, and the words beside them."""
    from matplotlib.dates import num2date

    summary = summarise([record])
    with figures._style():
        axes = figures._draw_timeline(summary, summary.timelines[0]).axes[1]
    part_of = {alpha: part for part, alpha in figures._PART_ALPHA.items()}
    lanes: dict[str, list[Any]] = {label.get_text(): [] for label in axes.get_yticklabels()}
    for bar in axes.patches:
        lane = list(lanes)[round(bar.get_y() + bar.get_height() / 2)]
        days = (f"{num2date(x):%Y-%m-%d}" for x in (bar.get_x(), bar.get_x() + bar.get_width()))
        lanes[lane].append((part_of[bar.get_alpha()], *days))
    for text, lane in zip(axes.texts, lanes, strict=True):
        lanes[lane].append(text.get_text())
    return lanes


def test_a_class_without_posts_in_a_part_has_no_bar_and_no_date_there(make_record: Callable[..., Record]) -> None:
    record = make_record(protocol="chrono", absent=("rumour",))
    record["timeline"]["counts"] = {"non-rumour": [1] * 40, "rumour": [5] * 30 + [0] * 10}
    record["timeline"]["cuts"]["rumour"] = [None, None]
    lanes = bars(record)
    assert lanes["chrono: non-rumour"] == [
        ("train", "2014-08-09", "2015-01-05"),
        ("validation", "2015-01-05", "2015-01-08"),
        ("test", "2015-01-08", "2015-03-27"),
        "validation from 2015-01-05\ntest from 2015-01-08",
    ]
    # The class goes on until the end of January, but what trains ends on 5 January.
    assert lanes["chrono: rumour"] == [("train", "2014-08-09", "2015-01-05"), "no validation posts\nno test posts"]


def test_a_class_that_first_appears_in_the_test_part_has_no_training_bar(make_record: Callable[..., Record]) -> None:
    record = make_record(protocol="chrono")
    record["timeline"]["counts"]["rumour"] = [0] * 30 + [5] * 10
    record["timeline"]["cuts"]["rumour"][0] = None
    record["split"]["absent"] |= {"train": ["rumour"], "validation": ["rumour"]}
    (test, words) = bars(record)["chrono: rumour"]
    assert (test[0], test[2]) == ("test", "2015-03-27")
    assert words == "no validation posts\ntest from 2015-01-08"


def test_the_inflation_figure_gives_no_number_where_there_is_none(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.8 + 0.01 * k) for k in range(5)]
    records += [make_record(absent=("rumour",), f1=0.4), make_record(protocol="chrono_stratified", f1=0.6)]
    (block,) = blocks(summarise(records))
    with figures._style():
        axes = figures._draw_inflation(block).axes[0]
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert ticks == ["lr", "random", "chrono", "chrono_stratified"]
    beside = [(ticks[round(t.get_position()[1])], t.get_text()) for t in axes.texts if t.get_position()[1] > 0]
    assert [text for tick, text in beside if tick == "chrono"] == ["40.0", "not comparable"]
    assert [text for tick, text in beside if tick == "chrono_stratified"] == ["60.0", "+22.0*"]
    dotted = [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == ":"]
    assert dotted == [ticks.index("chrono_stratified")]


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
    ],
    ids=["class without a part", "one moment", "class without posts"],
)
def test_odd_corpora_are_drawn(make_record: Callable[..., Record], change: dict[str, Any]) -> None:
    record = make_record(protocol="chrono")
    record["timeline"] |= change
    for svg in both([record]):
        ET.fromstring(svg)


def test_many_classes_are_drawn(make_record: Callable[..., Record]) -> None:
    for svg in both([make_record(protocol="chrono", classes=tuple(f"class {i}" for i in range(12)))]):
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
