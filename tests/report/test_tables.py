"""Table 4 for the runs at hand, in the terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from scipy import stats

from temporal_rumors.report import summarise, tables, terminal, words, write
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
    points = {words.signed(r.points) for r in summary.inflation if r.comparable}
    return ours | papers | differences | points


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_shows_every_number_whole_and_no_colour_codes(summary: Summary, width: int) -> None:
    text = printed(summary, width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert "\x1b" not in text
    assert all(number in text for number in shown_numbers(summary))
    assert {"PHEME", "Twitter16", "random", "chrono", "chrono_stratified", "loo"} <= set(re.findall(r"[\w-]+", text))


def test_eighty_columns_hold_the_widest_row_whole(make_record: Callable[..., Record]) -> None:
    records = [
        make_record(
            "twitter16_temporal", p, "nghuyong/ernie-1.0-base-zh", seed, f1=f1, absent=absent, classes=("a", "b")
        )
        for p, absent in (("random_fold0", ()), ("chrono_stratified", ("a",)))
        for seed, f1 in enumerate((1.0, 1.0, 0.55))
    ]
    records += [
        make_record("twitter16_temporal", "chrono_stratified", seed=s, f1=f1) for s, f1 in enumerate((1, 1, 0.4))
    ]
    text = printed(summarise(records), 80)
    assert max(map(len, text.splitlines())) == 80
    assert {"chrono_stratified†", "chrono_stratified", "comparable"} <= set(text.split())
    for number in ("85.0 ± 26.0", "80.0 ± 34.6", "48.7 ± 11.4"):
        assert number in text


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
            rows = [line for line in table.splitlines() if re.search(r"(?<!\\)&", line)]
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(block.header)}
            assert len(rows) == len(block.rows) + 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_and_fits_the_text_width_of_an_article(
    tmp_path: Path, summary: Summary, hostile: Summary
) -> None:
    for each in (summary, hostile):
        (tmp_path / "tables.tex").write_text(tables.latex(each), encoding="utf-8")
        (tmp_path / "article.tex").write_text(
            r"\documentclass{article}\usepackage{booktabs,textcomp}\begin{document}\input{tables}\end{document}"
        )
        command = ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "article"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "Overfull \\hbox" not in done.stdout


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
        assert (row["task"] or None) == result["task"]
        point = points.get((row["benchmark"], row["model"], row["protocol"])) if row["metric"] == "f1" else None
        assert (float(row["inflation_points"]) if row["inflation_points"] else None) == point


def test_csv_gives_hostile_names_back_unchanged(hostile: Summary) -> None:
    rows = csv.DictReader(io.StringIO(tables.tidy_csv(hostile), newline=""))
    assert {row["model"] for row in rows} == set(HOSTILE)


def test_rows_with_a_note_are_marked_and_the_note_is_told(summary: Summary) -> None:
    for block in tables.blocks(summary):
        marked = [row for row in block.rows if row.heading.endswith(tables.MARK)]
        assert marked == [row for row in block.rows if row.notes]
        for row in marked:
            assert any(f"{row.model} {row.protocol}" in line and row.notes[0] in line for line in block.notes)
    assert "absent class as 0" in " ".join(printed(summary, 80).split())


def test_a_note_of_several_rows_is_told_once_and_one_on_random_folds_at_these_alone(
    make_record: Callable[..., Record],
) -> None:
    records = [make_record(protocol=f"random_fold{k}", data="mine", f1=0.8 + 0.01 * k) for k in range(3)]
    records += [make_record(protocol=p, data="mine") for p in ("chrono", "chrono_stratified")]
    (block,) = tables.blocks(summarise(records))
    assert block.notes == [
        "† lr random: 3 of 5 folds",
        "† lr random, lr chrono, lr chrono_stratified: not the published data",
    ]


def test_variants_of_a_model_are_explained(make_record: Callable[..., Record]) -> None:
    summary = summarise([make_record(), make_record(settings={"C": [1], "ngrams": [1, 3]})])
    (block,) = tables.blocks(summary)
    one, other = (row.model for row in block.rows)
    values = {run.model: f"{run.model} has C = {list(run.settings['C'])}" for run in summary.runs}
    expected = (
        "Variants of one model, named with @, differ in settings, classes, data or version: "
        f"{values[one]}; {values[other]}"
    )
    assert block.notes == [expected]
    for text in (printed(summary, 500), tables.latex(summary)):
        assert expected in " ".join(text.replace("{[}", "[").replace("{]}", "]").split())


@pytest.mark.parametrize("render", [lambda s: printed(s, 80), tables.markdown, tables.latex, tables.tidy_csv])
def test_where_test_parts_lack_a_class_no_form_gives_a_difference(
    make_record: Callable[..., Record], render: Callable[[Summary], str]
) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.8 + 0.01 * k) for k in range(5)]
    text = render(summarise([*records, make_record(f1=0.4, absent=("rumour",))]))
    assert not re.search(r"\+4[12]\.", text)
    assert ("comparable" in text) == (render is not tables.tidy_csv)


def test_every_form_for_readers_states_what_the_p_value_leaves_out(summary: Summary) -> None:
    for text in (printed(summary, 80), tables.markdown(summary), tables.latex(summary)):
        assert f"{words.UNROUNDED} " in " ".join(text.split())
        assert words.CAVEAT in " ".join(text.split())


@pytest.mark.parametrize(("points", "text"), [(-0.04, "+0.0"), (0.0, "+0.0"), (-0.06, "-0.1"), (18.24, "+18.2")])
def test_differences_carry_their_sign_and_no_negative_zero(points: float, text: str) -> None:
    assert words.signed(points) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "p < 0.001"), (0.0031, "p = 0.0031"), (0.052, "p = 0.052"), (0.5, "p = 0.50"), (1.0, "p = 1.00")],
)
def test_p_values_keep_two_digits(p: float, text: str) -> None:
    assert words.p_value(p) == text


def random_folds(make_record: Callable[..., Record], base: float = 0.83, **others: Any) -> list[Record]:
    """Five random folds whose mean is base + 0.01."""
    return [make_record(protocol=f"random_fold{k}", f1=base + 0.005 * k, **others) for k in range(5)]


def test_one_comparison_is_answered_in_a_sentence(make_record: Callable[..., Record]) -> None:
    assert words.headline(summarise([*random_folds(make_record), make_record(f1=0.658)])) == [
        "On PHEME, lr scores 84.0 macro-F1 under random folds and 65.8 under chrono (tested on the latest posts): the "
        "random score is inflated by 18.2 points (p < 0.001, one-sample t-test)."
    ]


@pytest.mark.parametrize(
    ("chrono", "finding", "certain"),
    [
        (0.6, "the random score is lower by 8.0 points", True),
        (0.517, "the random score is higher by 0.3 points", False),
        (0.512, "the random score is higher by 0.8 points", False),
        (0.5203, "the two differ by less than 0.1 points", False),
        (0.5, "the random score is inflated by 2.0 points", True),
    ],
)
def test_a_sentence_says_no_more_than_was_found(
    make_record: Callable[..., Record], chrono: float, finding: str, certain: bool
) -> None:
    folds = random_folds(make_record, 0.51)
    p = words.p_value(stats.ttest_1samp([r["metrics"]["f1"] for r in folds], chrono).pvalue)
    (said,) = words.headline(summarise([*folds, make_record(f1=chrono)]))
    assert said.endswith(f": {finding} ({p}, one-sample t-test{'' if certain else ': not significant'}).")


def test_a_difference_that_is_certain_but_small_is_not_called_inflation(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.608 + 0.0001 * k) for k in range(5)]
    (said,) = words.headline(summarise([*records, make_record(f1=0.6)]))
    assert "higher by 0.8 points (p < 0.001, one-sample t-test)" in said
    assert "inflated" not in said


def test_without_a_test_the_sentence_says_so_and_keeps_other_cautions(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol="random_fold0", f1=0.8, data="mine"), make_record(f1=0.7, data="mine")]
    (said,) = words.headline(summarise(records))
    assert "higher by 10.0 points (no test). Caution:" in said
    for caution in ("1 of 5 folds", "not the published data", "neither side's scores vary"):
        assert caution in said


def test_without_anything_to_compare_the_headline_says_what_is_missing(make_record: Callable[..., Record]) -> None:
    for records in ([make_record()], [*random_folds(make_record), make_record(absent=("rumour",))]):
        (said,) = words.headline(summarise(records))
        assert "do not show" in said
        assert not re.search(r"\d", said)


def test_a_sentence_on_what_cannot_be_compared_gives_the_reason_and_no_difference(
    make_record: Callable[..., Record],
) -> None:
    (said,) = words.sentences(summarise([*random_folds(make_record), make_record(f1=0.4, absent=("rumour",))]))
    assert "84.0" in said
    assert "40.0 under chrono" in said
    assert "44.0" not in said
    assert "the two are not comparable: no rumour post in the test part" in said


def test_the_sentence_passes_over_a_protocol_that_is_not_comparable(make_record: Callable[..., Record]) -> None:
    records = [*random_folds(make_record), make_record(absent=("rumour",))]
    records.append(make_record(protocol="chrono_stratified", f1=0.7))
    (said,) = words.headline(summarise(records))
    assert "70.0 under chrono_stratified (tested on the latest posts of each class)" in said


def test_several_benchmarks_are_summed_up_with_what_is_left_out_and_what_the_range_rests_on(
    make_record: Callable[..., Record],
) -> None:
    few = make_record("twitter16_temporal", f1=0.24, test_sizes={"rumour": 8})
    records = [
        *random_folds(make_record),
        make_record(f1=0.74),
        make_record(protocol="chrono_stratified", f1=0.83996),  # + 0.0 points: not higher
        *random_folds(make_record, benchmark="twitter16_temporal"),
        few,
        *random_folds(make_record, benchmark="weibo_temporal", data="mine"),
        make_record("weibo_temporal", absent=("rumour",), data="mine"),
        make_record("weibo_temporal", "chrono_stratified", f1=0.86, data="mine"),
    ]
    assert words.headline(summarise(records)) == [
        "lr scores a higher macro-F1 under random folds in 2 of 4 comparisons with other protocols (chrono, "
        "chrono_stratified); in 2 the score is inflated (by at least 1 point, p < 0.05 after Holm's adjustment). The "
        "difference runs from -2.0 to +60.0 points, with a median of +5.0. Left out as not comparable: 1. Caution: "
        "only 8 rumour posts in the test part for Twitter16 chrono; not the published data for Weibo chrono_stratified."
    ]


def test_models_are_not_pooled(make_record: Callable[..., Record]) -> None:
    records = [
        record
        for model, chrono in (("lr", 0.6), ("my/model", 0.9))
        for benchmark in ("pheme_temporal", "twitter16_temporal")
        for record in (
            *random_folds(make_record, model=model, benchmark=benchmark),
            make_record(benchmark, model=model, f1=chrono),
        )
    ]
    one, other = words.headline(summarise(records))
    assert one.startswith("lr scores a higher macro-F1 under random folds in 2 of 2 comparisons")
    assert other.startswith("my/model scores a higher macro-F1 under random folds in 0 of 2 comparisons")
    assert "from +24.0 to +24.0" in one
    assert "from -6.0 to -6.0" in other


def test_a_model_without_any_comparison_stands_beside_one_that_has_some(make_record: Callable[..., Record]) -> None:
    records = [*random_folds(make_record), make_record(f1=0.6)]
    for benchmark in ("pheme_temporal", "twitter16_temporal"):
        records += random_folds(make_record, benchmark=benchmark, model="my/model")
        records.append(make_record(benchmark, model="my/model", absent=("rumour",)))
    assert words.headline(summarise(records))[1] == "my/model: all comparisons are left out as not comparable."


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
def test_every_form_for_readers_tells_what_reading_the_data_dropped(
    tmp_path: Path, make_record: Callable[..., Record], suffix: str
) -> None:
    path = tmp_path / f"report{suffix}"
    write(summarise([make_record(data_remarks=("1 row dropped, no text (line 7)",))]), path)
    assert "1 row dropped, no text (line 7)" in path.read_text(encoding="utf-8")


# Benchmarks of several tasks


@pytest.fixture(scope="module")
def tasks(of_task: Callable[..., Record], make_record: Callable[..., Record]) -> Summary:
    """Both tasks of a benchmark under random folds and the official split, beside a benchmark with one."""
    records = [make_record()]
    for base, task in ((0.4, "stance"), (0.6, "veracity")):
        records += [of_task(task, f"random_fold{k}", f1=base + 0.01 * k) for k in range(5)]
        records.append(of_task(task, "official", f1=base - 0.1))
    return summarise(records)


def test_each_task_has_a_table_of_its_own_with_the_metrics_of_its_benchmark(tasks: Summary) -> None:
    found = {block.title: (block.subject, block.header) for block in tables.blocks(tasks)}
    assert found == {
        "PHEME": (("pheme_temporal", None), ["Protocol", "", "P", "R", "F1", "Inflation"]),
        "RumourEval 2017 stance": (("rumoureval2017", "stance"), ["Protocol", "Acc", "F1", "Inflation"]),
        "RumourEval 2017 veracity": (("rumoureval2017", "veracity"), ["Protocol", "Acc", "F1", "RMSE", "Inflation"]),
    }
    stance, veracity = tables.blocks(tasks)[1:]
    assert stance.caption == "RumourEval 2017 stance: accuracy and macro-F1 in percent"
    cells = {row.protocol: stance.cells(row) for row in stance.rows}
    assert cells["official"][:3] == [["official"], ["70.0"], ["30.0"]]
    assert cells["official"][3][0].startswith("+12.0")
    cells = {row.protocol: veracity.cells(row) for row in veracity.rows}
    assert cells["official"][:4] == [["official"], ["70.0"], ["50.0"], ["80.0"]]
    assert cells["random"][:4] == [["random"], ["70.0 ± 0.0"], ["62.0 ± 1.6"], ["80.0 ± 0.0"]]


def test_every_form_for_readers_tells_tasks_apart(tasks: Summary) -> None:
    for render in (lambda summary: printed(summary, 80), tables.markdown, tables.latex):
        stance, veracity = " ".join(render(tasks).split()).split("RumourEval 2017 veracity: ")
        stance = stance.split("RumourEval 2017 stance: ")[1]
        assert "30.0" in stance
        assert "RMSE" not in stance
        for shown in ("50.0", "RMSE", "62.0"):
            assert shown in veracity
    labels = re.findall(r"\\label\{(.*?)\}", tables.latex(tasks))
    assert labels == ["tab:pheme-temporal", "tab:rumoureval2017-stance", "tab:rumoureval2017-veracity"]


def test_a_page_has_a_section_for_each_task(tasks: Summary, tmp_path: Path) -> None:
    write(tasks, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    for title in ("PHEME", "RumourEval 2017 stance", "RumourEval 2017 veracity"):
        assert headings.count(title) == 1
    stance, veracity = page.split(">RumourEval 2017 veracity</h2>")
    assert "RMSE</th>" in veracity
    assert "RMSE</th>" not in stance
    for name in ("unverified", "query"):
        assert (name in veracity, name in stance) == ((True, False) if name == "unverified" else (False, True))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_csv_and_json_name_the_task_and_hold_official_scores_that_the_table_leaves_out(
    tasks: Summary, tmp_path: Path
) -> None:
    rows = list(csv.DictReader(io.StringIO(tables.tidy_csv(tasks))))
    official = {(row["task"], row["metric"]): row["mean"] for row in rows if row["protocol"] == "official"}
    assert float(official["veracity", "final_score"]) == pytest.approx(20.0)
    assert ("stance", "final_score") not in official
    assert {row["task"] for row in rows} == {"", "stance", "veracity"}
    write(tasks, tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {(row["task"], row["metric"]) for row in found["results"] if row["protocol"] == "official"} == set(official)
    assert {row["task"] for row in found["inflation"]} == {"stance", "veracity"}
    assert {row["task"] for row in found["splits"]} == {None, "stance", "veracity"}


def test_notes_and_data_remarks_stay_with_their_task(of_task: Callable[..., Record]) -> None:
    records = [
        of_task("stance", "official", data_remarks=("named in structure.json, no file: 347",)),
        of_task("veracity", "official", absent=("true",)),
    ]
    stance, veracity = tables.blocks(summarise(records))
    assert stance.notes == ["Data: named in structure.json, no file: 347"]
    assert veracity.notes == [
        "† lr official: no true post in the test part, and macro scores count an absent class as 0"
    ]


def test_the_headline_names_the_task_and_the_official_split(of_task: Callable[..., Record]) -> None:
    records = [of_task("stance", f"random_fold{k}", f1=0.5 + 0.01 * k) for k in range(5)]
    assert words.headline(summarise([*records, of_task("stance", "official", f1=0.4)])) == [
        "On RumourEval 2017 stance, lr scores 52.0 macro-F1 under random folds and 40.0 under official (the split of "
        "the shared task): the random score is inflated by 12.0 points (p < 0.001, one-sample t-test)."
    ]


def test_two_tasks_are_summed_up_as_two_benchmarks_are(tasks: Summary) -> None:
    (said,) = words.headline(tasks)
    assert said.startswith("lr scores a higher macro-F1 under random folds in 2 of 2 comparisons")
    assert "from +12.0 to +12.0 points" in said
    assert len(words.sentences(tasks)) == 2


def test_a_comparison_by_pooled_predictions_is_marked_and_explained(of_task: Callable[..., Record]) -> None:
    records = []
    for start, names in (("random_fold", range(5)), ("loo_", ("ferguson", "sydneysiege", "charliehebdo"))):
        for k, name in enumerate(names):
            ids = [str(i) for i in range(300) if (i % 5 if start == "random_fold" else i % 3) == k]
            sizes = {c: sum(int(id) % 3 == j for id in ids) for j, c in enumerate(("true", "false", "unverified"))}
            absent = tuple(c for c, n in sizes.items() if not n)
            record = of_task("veracity", f"{start}{name}", absent=absent, test_sizes=sizes)
            right = 1 if start == "random_fold" else 2
            record["predictions"] = {
                "ids": ids,
                "references": [int(id) % 3 for id in ids],
                "predictions": [int(id) % 3 if int(id) % right == 0 else (int(id) + 1) % 3 for id in ids],
            }
            records.append(record)
    summary = summarise(records)
    (row,) = summary.inflation
    # By random folds all are right, by events every second one.
    assert (row.pooled, row.random_mean, row.protocol_mean) == (True, 100.0, pytest.approx(50.0))
    (block,) = tables.blocks(summary)
    (loo,) = [row for row in block.rows if row.protocol == "loo"]
    assert block.cells(loo)[-1] == ["+50.0", "pooled:", "100.0-50.0"]
    for text in (printed(summary, 80), tables.markdown(summary), tables.latex(summary)):
        assert words.POOLED in " ".join(text.split())
    (said,) = words.headline(summary)
    assert "100.0 macro-F1 under random folds and 50.0 under loo" in said
    assert "the random score is higher by 50.0 points" in said
    assert "pooled predictions for the 300 posts" in said
    assert "inflated" not in said
    others = summarise([of_task("stance", "official"), of_task("stance", "random_fold0")])
    assert words.POOLED not in " ".join(printed(others, 80).split())
