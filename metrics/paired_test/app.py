"""The Space: paste or open the answers of two systems and the references, read off whether one is better."""

import csv
import io
import json

import space
from scoring import paired_test

INTRODUCTION = """\
# Is one of two systems better?
Paste or open CSV with the columns `prediction1`, `prediction2` and `reference`, or JSON of the form
`{"predictions1": [...], "predictions2": [...], "references": [...]}`. A further column `group` (`"groups"` in JSON)
says which examples belong together, such as those of one thread or event.
"""
EXAMPLES = (
    "prediction1,prediction2,reference,group\ntrue,true,true,a\nfalse,true,false,a\nfalse,false,false,b\n"
    "true,false,true,b\nunverified,true,unverified,c\ntrue,true,false,d\n",
)
HEADERS = ("measure", "system 1", "system 2", "1 minus 2")
REQUIRED = ("predictions1", "predictions2", "references")
MAX_CLASSES = 1000  # with ten times as many a comparison would take minutes


def read_columns(text):
    """Return the columns by name, from CSV with a header line or from JSON with lists.

    Raises:
        ValueError: text that is neither.
    """
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"The JSON cannot be read, line {error.lineno}: {error.msg}.") from None
        except RecursionError:
            raise ValueError("The JSON cannot be read: too many brackets within brackets.") from None
        if {*data} - {"groups"} != {*REQUIRED}:
            raise ValueError(
                'Expected JSON of the form {"predictions1": [...], "predictions2": [...], "references": [...]}, '
                'with or without "groups".'
            )
        return data
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
    except csv.Error as error:
        raise ValueError(f"The CSV cannot be read: {error}.") from None
    of_header = {"prediction1": "predictions1", "prediction2": "predictions2", "reference": "references"}
    names = [name.strip().lower() for name in header]
    names = [of_header.get(name, "groups" if name == "group" else name) for name in names]
    if sorted(names) not in (sorted(REQUIRED), sorted((*REQUIRED, "groups"))):
        raise ValueError("Expected CSV whose first line is: prediction1,prediction2,reference or the same with ,group")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names) or not all(map(str.strip, row)):
            raise ValueError(f"Row {number} after the header does not hold {len(names)} labels.")
    return {name: [row[column].strip() for row in rows] for column, name in enumerate(names)}


def score(text):
    """Return both systems' scores, the interval of their difference and the tests."""
    columns = read_columns(text)
    classes = {str(label) for name in REQUIRED if isinstance(columns[name], list) for label in columns[name]}
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"Found {len(classes):,} different labels, the limit here is {MAX_CLASSES:,}: use the Python function."
        )
    result = paired_test(**columns)
    low, high = result["interval"]
    rows = [
        ["accuracy", result["accuracy1"], result["accuracy2"], result["accuracy_difference"]],
        ["macro F1", result["macro_f1_1"], result["macro_f1_2"], result["macro_f1_difference"]],
        ["macro F1, 95% interval from", "", "", low],
        ["macro F1, 95% interval to", "", "", high],
        ["accuracy, p (McNemar, exact)", "", "", result["mcnemar_p"]],
        ["macro F1, p (randomisation)", "", "", result["randomisation_p"]],
        ["right where the other is wrong", result["n_only_1_right"], result["n_only_2_right"], ""],
    ]
    summary = (
        f"Macro F1 differs by {result['macro_f1_difference']:.4f} (95% interval {low:.4f} to {high:.4f}; "
        f"p {result['randomisation_p']:.4f}).\n{result['n_examples']:,} examples in {result['n_groups']:,} groups; the "
        f"systems differ on {result['n_disagreements']:,}."
    )
    return space.Scores(rows, result, summary)


def build():
    """Return the page."""
    return space.build(
        name="paired_test",
        introduction=INTRODUCTION,
        inputs=[space.Input("Predictions and references", EXAMPLES[0], (".csv", ".json"))],
        headers=HEADERS,
        widths=("43%", *["19%"] * 3),
        score=score,
    )


if __name__ == "__main__":
    space.launch(build())
