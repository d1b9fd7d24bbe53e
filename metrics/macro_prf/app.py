"""The Space: paste or upload predictions and references, read off macro precision, recall and F1."""

import csv
import io
import json
from pathlib import Path

from scoring import macro_prf

MAX_BYTES = 5_000_000
EXAMPLE = "prediction,reference\ntrue,true\nfalse,true\nfalse,false\nunverified,unverified\n"


def read_columns(text):
    """Return (predictions, references) from CSV with a header line or from JSON with two lists.

    Raises:
        ValueError: text that is neither, or is larger than MAX_BYTES.
    """
    if len(text.encode()) > MAX_BYTES:
        raise ValueError(f"The input is larger than {MAX_BYTES // 1_000_000} MB: use the Python function instead.")
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"The JSON cannot be read, line {error.lineno}: {error.msg}.") from None
        if set(data) != {"predictions", "references"}:
            raise ValueError('Expected JSON of the form {"predictions": [...], "references": [...]}.')
        return data["predictions"], data["references"]
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text)) if row] or [[]]
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
    """Return table rows [class, precision, recall, F1, support], the macro average last."""
    predictions, references = read_columns(text)
    result = macro_prf(predictions=predictions, references=references, per_class=True)
    names = ("precision", "recall", "f1")
    classes = zip(result["labels"], *(result["per_class"][name] for name in (*names, "support")), strict=True)
    rows = [[str(label), *(round(value, 4) for value in values)] for label, *values in classes]
    return [*rows, ["macro average", *(round(result[name], 4) for name in names), len(references)]]


def build():
    """Return the gradio app."""
    import gradio as gr

    def on_score(text, path):
        try:
            if path is not None:
                if Path(path).stat().st_size > MAX_BYTES:
                    raise ValueError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
                text = Path(path).read_text(encoding="utf-8")
            return score(text)
        except UnicodeDecodeError:
            raise gr.Error("The file is not UTF-8 text.", print_exception=False) from None
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from None

    with gr.Blocks(title="macro_prf") as app:
        gr.Markdown(
            "# Macro precision, recall and F1\nPaste or upload CSV with the columns `prediction` and `reference`, "
            'or JSON of the form `{"predictions": [...], "references": [...]}`.'
        )
        text = gr.Textbox(EXAMPLE, lines=8, label="Predictions and references")
        upload = gr.File(file_types=[".csv", ".json"], label="Or a file (it takes precedence)")
        table = gr.Dataframe(headers=["class", "precision", "recall", "F1", "support"], label="Scores")
        gr.Button("Score", variant="primary").click(on_score, [text, upload], table)
    return app


if __name__ == "__main__":
    build().launch(max_file_size=MAX_BYTES)
