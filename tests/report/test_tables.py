"""Table 4 for the runs at hand, in the terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from temporal_rumors.report import summarise, tables, terminal, words
from temporal_rumors.report.summary import Summary

Record = dict[str, Any]
HOSTILE = [
    "<script>alert(1)</script>",
    "a&b_%",
    "x|y",
    r"c\d{e}$f$~^#",
    "[red]z[/red]",
    "[0pt]*",
    "`_*~",
    "line\nbreak",
]


@pytest.fixture(scope="module")
def summary(grid: list[Record]) -> Summary:
    return summarise(grid)


@pytest.fixture(scope="module")
def hostile(make_record: Callable[..., Record]) -> Summary:
    protocols = ("random_fold0", "random_fold1", "chrono")
    return summarise(
        [
            make_record(benchmark=name, protocol=p, model=name, f1=0.8 - 0.01 * i)
            for name in HOSTILE
            for i, p in enumerate(protocols)
        ]
    )


def printed(summary: Summary, width: int) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for renderable in terminal(summary):
        console.print(renderable)
    return stream.getvalue()


def shown_numbers(summary: Summary) -> set[str]:
    """Every mean with its deviation, ours and the paper's, as the report writes them."""
    ours = {words.score(r.mean, r.std) for r in summary.results}
    papers = {words.score(r.paper_mean, r.paper_std) for r in summary.results if r.paper_mean is not None}
    differences = {words.signed(r.difference) for r in summary.results if r.difference is not None}
    points = {words.signed(r.points) for r in summary.inflation}
    return ours | papers | differences | points


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_shows_every_number_whole_and_no_colour_codes(summary: Summary, width: int) -> None:
    text = printed(summary, width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert "\x1b" not in text
    assert all(number in text for number in shown_numbers(summary))
    assert {"PHEME", "Twitter16", "Standard", "Leave-one-out"} <= set(re.findall(r"[\w-]+", text))


def test_a_long_model_name_does_not_cut_numbers_in_the_terminal(make_record: Callable[..., Record]) -> None:
    name = "some-organisation/" + "long" * 20
    summary = summarise([make_record(protocol=p, model=name) for p in ("random_fold0", "chrono")])
    text = printed(summary, 80)
    assert "60.0" in text
    assert name in re.sub(r"\s", "", text)


def test_the_terminal_takes_names_for_text_not_markup(hostile: Summary) -> None:
    assert "[red]z[/red]" in {line.strip() for line in printed(hostile, 100).splitlines()}


def test_markdown_rows_have_one_cell_a_column_whatever_the_names(summary: Summary, hostile: Summary) -> None:
    for each in (summary, hostile):
        lines = [line for line in tables.markdown(each).splitlines() if line.startswith("|")]
        widths = {len(re.findall(r"(?<!\\)\|", line)) - 1 for line in lines}
        assert widths <= {6, 7}
        assert len(lines) == sum(len(block.rows) + 2 for block in tables.blocks(each))


def test_markdown_holds_every_number_and_no_live_html(summary: Summary, hostile: Summary) -> None:
    text = tables.markdown(summary)
    assert all(number in text for number in shown_numbers(summary))
    unescaped = re.sub(r"\\.", "", tables.markdown(hostile).replace("<br>", ""))
    assert "<" not in re.sub(r"p < 0\.", "", unescaped)


def test_latex_has_balanced_braces_environments_and_columns(summary: Summary, hostile: Summary) -> None:
    for each in (summary, hostile):
        text = tables.latex(each)
        bare = re.sub(r"\\[\\{}&%$#_]", "", text)
        assert bare.count("{") == bare.count("}")
        stack = []
        for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
            if kind == "begin":
                stack.append(name)
            else:
                assert stack.pop() == name
        assert stack == []
        assert text.count(r"\toprule") == text.count(r"\bottomrule") == len(tables.blocks(each))
        for table, block in zip(
            re.findall(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL), tables.blocks(each), strict=True
        ):
            rows = [line for line in table.splitlines() if "&" in line]
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(block.header)}
            assert len(rows) == len(block.rows) + 1


def test_latex_leaves_no_special_character_of_a_name_alive(hostile: Summary) -> None:
    body = "".join(re.findall(r"\\toprule(.*?)\\bottomrule", tables.latex(hostile), re.DOTALL))
    assert not re.search(r"(?<!\\)[%$#_]", body)
    assert not re.search(r"[~^<>|]", body)
    # A bracket at the start of a row or after a rule would be read as an option.
    assert not re.search(r"(?:\\\\|rule)\s*[\[*]", body)


def test_csv_holds_what_the_json_holds_in_full_precision(summary: Summary) -> None:
    rows = list(csv.DictReader(io.StringIO(tables.tidy_csv(summary))))
    expected = summary.to_json()
    assert len(rows) == len(expected["results"])
    points = {(i["benchmark"], i["model"], i["protocol"]): i["points"] for i in expected["inflation"]}
    for row, result in zip(rows, expected["results"], strict=True):
        for name in ("mean", "std", "paper_mean", "paper_std"):
            assert (float(row[name]) if row[name] else None) == result[name]
        assert [row[name] for name in ("benchmark", "model", "protocol", "metric")] == [
            result[name] for name in ("benchmark", "model", "protocol", "metric")
        ]
        point = points.get((row["benchmark"], row["model"], row["protocol"])) if row["metric"] == "f1" else None
        assert (float(row["inflation_points"]) if row["inflation_points"] else None) == point


def test_csv_gives_hostile_names_back_unchanged(hostile: Summary) -> None:
    rows = csv.DictReader(io.StringIO(tables.tidy_csv(hostile), newline=""))
    assert {row["model"] for row in rows} == set(HOSTILE)


def test_rows_with_a_note_are_marked_and_the_note_is_told(summary: Summary) -> None:
    for block in tables.blocks(summary):
        marked = [row for row in block.rows if row.strategy.endswith(tables.MARK)]
        assert marked == [row for row in block.rows if row.note]
        assert len(block.notes) == len(marked)
    assert "not comparable" in printed(summary, 80)


@pytest.mark.parametrize(("points", "text"), [(-0.04, "+0.0"), (0.0, "+0.0"), (-0.06, "-0.1"), (18.24, "+18.2")])
def test_differences_carry_their_sign_and_no_negative_zero(points: float, text: str) -> None:
    assert words.signed(points) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "p < 0.001"), (0.0031, "p = 0.0031"), (0.052, "p = 0.052"), (0.5, "p = 0.50"), (1.0, "p = 1.00")],
)
def test_p_values_keep_two_digits(p: float, text: str) -> None:
    assert words.p_value(p) == text


def test_one_comparison_is_answered_in_a_sentence(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.83 + 0.005 * k) for k in range(5)]
    answer = words.answer(summarise([*records, make_record(f1=0.658)]))
    assert answer == (
        "Under random folds lr scores 84.0 macro-F1 on PHEME; on tomorrow's posts 65.8: the random score is inflated "
        "by 18.2 points (p < 0.001, one-sample t-test)."
    )


def test_the_answer_does_not_call_a_lower_or_uncertain_random_score_inflated(
    make_record: Callable[..., Record],
) -> None:
    lower = [make_record(protocol=f"random_fold{k}", f1=0.5 + 0.01 * k) for k in range(5)]
    assert "not inflated, but 8.0 points lower" in words.answer(summarise([*lower, make_record(f1=0.6)]))
    assert "not significant" in words.answer(summarise([*lower, make_record(f1=0.521)]))
    missing = words.answer(summarise([make_record()]))
    assert "do not show" in missing


def test_the_answer_passes_over_a_protocol_that_is_not_comparable(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.83 + 0.005 * k) for k in range(5)]
    records += [make_record(absent=("rumour",)), make_record(protocol="chrono_stratified", f1=0.7)]
    assert "on the latest posts of each class 70.0" in words.answer(summarise(records))
