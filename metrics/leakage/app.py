"""The Space: paste or open training and test texts, read off the near copies between them."""

import csv
import io
import json

import space
from scoring import leakage

INTRODUCTION = """\
# Near copies between training and test texts
Paste or open CSV with a column `text`, or a JSON list of texts. A near copy is a text within a character edit distance
of 20. Texts of at most 20 characters, blank ones and links alone are left out, unless you include them.
"""
EXAMPLES = (
    "text\nPolice have closed the bridge in the city centre\nNobody was hurt in the fire at the harbour\n"
    "The mayor resigns after the vote tonight\nA lion has been seen near the railway station\n",
    "text\nBREAKING: police have closed the bridge in the city centre\nNobody was hurt in the fire at the port\n"
    "The mayor resigned after the vote\nA LION has been seen near the railway station!!!\n"
    "The trains are running again since noon\n",
)
HEADERS = ("test text", "nearest training text", "distance")
SHORT = ("exclude", "include")
MAX_TEXTS = 20_000  # of one side; with all of them equal, a comparison of more would not fit into memory


def read_texts(text, label):
    """Return the texts, from CSV with a column `text` or from a JSON list.

    Raises:
        ValueError: text that is neither, or too many texts.
    """
    if text.lstrip().startswith(("[", "{")):
        try:
            texts = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{label}: the JSON cannot be read, line {error.lineno}: {error.msg}.") from None
        except RecursionError:
            raise ValueError(f"{label}: the JSON cannot be read: too many brackets within brackets.") from None
    else:
        try:
            header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
        except csv.Error as error:
            raise ValueError(f"{label}: the CSV cannot be read: {error}.") from None
        names = [name.strip().lower() for name in header]
        if names.count("text") != 1:
            raise ValueError(f"{label}: expected CSV whose first line names a column text, or a JSON list of texts.")
        for number, row in enumerate(rows, start=1):
            if len(row) != len(names):
                raise ValueError(f"{label}: row {number} after the header holds {len(row)} cells, not {len(names)}.")
        texts = [row[names.index("text")] for row in rows]
    if len(texts) > MAX_TEXTS:
        raise ValueError(f"{label}: {len(texts):,} texts, the limit here is {MAX_TEXTS:,}: use the Python function.")
    return texts


def score(train, test, short=SHORT[0]):
    """Return the near copies, a row for each test text that has one, the nearest first."""
    references, data = read_texts(train, "Training texts"), read_texts(test, "Test texts")
    result = leakage(data=data, references=references, short=short)
    rows = [[data[i], references[j], distance] for i, j, distance in sorted(result["nearest"], key=lambda row: row[2])]
    share = f"{100 * result['near_copy_share']:.1f}%"
    summary = (
        f"{result['near_copy']:,} of {len(data):,} test texts ({share}) have a near copy "
        f"among {len(references):,} training texts; with links and mentions masked, {result['near_copy_masked']:,}.\n"
        f"Too short for the threshold: {result['short_data']:,} test and {result['short_references']:,} training texts."
    )
    return space.Scores(rows, result, summary)


def build():
    """Return the page."""
    return space.build(
        name="leakage",
        introduction=INTRODUCTION,
        inputs=[
            space.Input(label, example, (".csv", ".json"))
            for label, example in zip(("Training texts", "Test texts"), EXAMPLES, strict=True)
        ],
        headers=HEADERS,
        widths=("42%", "42%", "16%"),
        score=score,
        choices=SHORT,
        choice_label="Short texts",
    )


if __name__ == "__main__":
    space.launch(build())
