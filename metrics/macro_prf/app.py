"""The Space: paste or open predictions and references, read off macro precision, recall and F1."""

import csv
import io
import json

import space
from scoring import macro_prf

INTRODUCTION = """\
# Macro precision, recall and F1
Paste or open CSV with the columns `prediction` and `reference`, or JSON of the form
`{"predictions": [...], "references": [...]}`. Every class counts the same, however rare it is.
"""
EXAMPLES = ("prediction,reference\ntrue,true\nfalse,true\nfalse,false\nunverified,unverified\n",)
HEADERS = ("class", "precision", "recall", "F1", "support")


def read_columns(text):
    """Return (predictions, references) from CSV with a header line or from JSON with two lists.

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
        if set(data) != {"predictions", "references"}:
            raise ValueError('Expected JSON of the form {"predictions": [...], "references": [...]}.')
        return data["predictions"], data["references"]
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
    except csv.Error as error:
        raise ValueError(f"The CSV cannot be read: {error}.") from None
    names = [name.strip().lower().removesuffix("s") for name in header]
    if sorted(names) != ["prediction", "reference"]:
        raise ValueError("Expected CSV whose first line is: prediction,reference")
    for number, row in enumerate(rows, start=1):
        if len(row) != 2 or not all(map(str.strip, row)):
            raise ValueError(f"Row {number} after the header does not hold two labels.")
    columns = dict(zip(names, ([row[i].strip() for row in rows] for i in range(2)), strict=True))
    return columns["prediction"], columns["reference"]


def score(text):
    """Return the scores of the text, a row for each class, the macro average last."""
    predictions, references = read_columns(text)
    result = macro_prf(predictions=predictions, references=references, per_class=True)
    names = ("precision", "recall", "f1")
    columns = (result["labels"], *(result["per_class"][name] for name in (*names, "support")))
    rows = [[str(label), *values] for label, *values in zip(*columns, strict=True)]
    rows.append(["macro average", *(result[name] for name in names), len(references)])
    summary = f"Macro F1 {result['f1']:.4f}, accuracy {result['accuracy']:.4f}; "
    return space.Scores(rows, result, f"{summary}{len(references):,} examples, {len(rows) - 1:,} classes.")


def build():
    """Return the page."""
    return space.build(
        name="macro_prf",
        introduction=INTRODUCTION,
        inputs=[space.Input("Predictions and references", EXAMPLES[0], (".csv", ".json"))],
        headers=HEADERS,
        widths=("28%", *["18%"] * 4),
        score=score,
    )


if __name__ == "__main__":
    space.launch(build())
