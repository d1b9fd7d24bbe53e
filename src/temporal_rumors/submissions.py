"""What `temporal-rumors score` shows: a submission file against the official key of a shared task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporal_rumors._version import __version__
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.metrics.rumoureval import scoring, submission
from temporal_rumors.records import sha256
from temporal_rumors.signature import compose
from temporal_rumors.sources.files import read_bytes

if TYPE_CHECKING:
    from rich.console import RenderableType

ALL = "rumoureval"
TASKS = (ALL, *scoring.LABELS)
# The largest official file has 60 kB.
MAX_BYTES = 50_000_000
_MEANINGS = {
    "accuracy": "share of the references that are answered right",
    "balanced_accuracy": "mean over the classes of the share answered right",
    "macro_f1": "mean F1 of the labels that occur, over the answered references",
    "macro_f1_thresholded": "the same, confidences below 0.5 read as unverified",
    "confidence_rmse": "root mean square error of the confidences (the lower, the better)",
    "confidence_rmse_correct": "rho: that of the right answers alone (the lower, the better)",
    "confidence_rmse_incorrect_as_1": "the same over all, a wrong answer being an error of 1",
    "final_score": "(1 - rho) x accuracy: rewards over-confidence",
    "final_score_macro": "(1 - rho) x balanced accuracy: rewards over-confidence",
    "num_references": "labels in the key",
    "num_matched": "of these, with an answer",
    "num_extra": "answers that the key does not ask for: ignored",
}


def score_files(
    gold: Path,
    answers: Path,
    *,
    task: str = ALL,
    edition: str = "paper",
    strict: bool = True,
    missing: str = "incorrect",
    per_class: bool = False,
) -> dict[str, Any]:
    """Score a submission file against a key file.

    Args:
        gold: the key, as the organisers publish it.
        answers: the submission, in the form that they ask for.
        task: "rumoureval" for all tasks that the key has, or "stance" or "veracity" for that one alone.
        edition, strict, missing, per_class: as for `temporal_rumors.rumoureval`.

    Returns:
        "edition", "signature" (what was scored, on one line), and for each sub-task of the key, "stance" and
        "veracity", its scores and "warnings"; with several languages also "languages".

    Raises:
        UserError: a file that cannot be read or is not what it should be; the message says what to do.
    """
    for what, name, valid in (
        ("task", task, TASKS),
        ("edition", edition, scoring.EDITIONS),
        ("--missing", missing, scoring.MISSING),
    ):
        if name not in valid:
            raise UserError(unknown(what, name, valid))
    contents = {path: _read(path) for path in (gold, answers)}
    try:
        scores = submission.score(
            contents[gold],
            contents[answers],
            edition=edition,
            strict=strict,
            missing=missing,
            per_class=per_class,
            gold_name=str(gold),
            submission_name=str(answers),
        )
    except ValueError as error:
        raise UserError(str(error)) from None
    if task != ALL:
        if task not in scores:
            raise UserError(f"{gold} holds no references for {task}, only for {' and '.join(scores)}")
        scores = {task: scores[task]}
    if contents[gold] == contents[answers]:
        for of_task in scores.values():
            of_task["warnings"].append("The two files are the same: the key is scored against itself.")
    parts = {
        "edition": edition,
        "strict": str(strict).lower(),
        "missing": missing,
        "gold": sha256(contents[gold])[:8],
        "submission": sha256(contents[answers])[:8],
        "version": __version__,
    }
    signature = compose({ALL: "all" if task == ALL else task, **parts})
    return {"edition": edition, "signature": signature, **scores}


def tables(result: Mapping[str, Any]) -> list[RenderableType]:
    """Lay out scores for the terminal.

    Args:
        result: from :func:`score_files`.

    Returns:
        What rich prints, in order.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    blocks: list[RenderableType] = []
    for task in (task for task in scoring.LABELS if task in result):
        scores = result[task]
        languages = scores.get("languages", {})
        edition = "the paper's card" if result["edition"] == "paper" else f"edition {result['edition']}"
        table = Table(title=f"{task}, {edition}", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        table.add_column("score", no_wrap=True)
        for heading in ("all" if languages else "", *languages):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("")
        for name, meaning in _MEANINGS.items():
            # Scores of no answers at all are conventions, and would look like results.
            if name in scores and (scores["num_matched"] or name.startswith("num_")):
                cells = [_written(each.get(name)) for each in (scores, *languages.values())]
                table.add_row(name, *cells, meaning)
        blocks.append(table)
        if "per_class" in scores:
            blocks.append(_confusion(scores))
            if (task, result["edition"]) == ("veracity", "2019"):
                note = "Recall compares labels alone; for the accuracy of 2019 an unverified answer is never right."
                blocks.append(Text(note))
        blocks += [Text(f"Warning: {warning}", style="yellow") for warning in scores["warnings"]]
        blocks.append(Text(""))
    return blocks


def _confusion(scores: Mapping[str, Any]) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(title="references by row, answers by column", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("class", no_wrap=True)
    for label in (*scores["labels"], "no answer", "recall"):
        table.add_column(label, justify="right", no_wrap=True)
    of_class = scores["per_class"]
    for i, label in enumerate(scores["labels"]):
        counts = (f"{n:,}" for n in (*scores["confusion_matrix"][i], of_class["missing"][i]))
        table.add_row(label, *counts, f"{of_class['recall'][i]:.4f}")
    return table


def _written(value: float | int | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _read(path: Path) -> bytes:
    if not path.is_file():
        found = f"{path} is no file" if path.exists() else f"there is no file {path}"
        raise UserError(f"{found}: name the key first and then the submission, both JSON")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise UserError(
            f"{path} has {size:,} bytes, more than the {MAX_BYTES:,} of any such file: is it the right one?"
        )
    return read_bytes(path)
