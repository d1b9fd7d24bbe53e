"""The Space: paste or open a key and a submission, read off the RumourEval scores."""

import json

import space
from scoring import EDITIONS
from submission import score as score_submission

INTRODUCTION = """\
# RumourEval
Scores of rumour stance (support, deny, query, comment) and rumour veracity (true, false, unverified). Paste or open the
gold key and a submission, in the JSON of 2019 or of 2017:

- `{"subtaskaenglish": {id: label}, "subtaskbenglish": {id: [label, confidence]}}`
- `{id: label}` or `{id: [label, confidence]}`

The three editions define different scores: *paper* is Derczynski et al. (2017), *2017* and *2019* are the official
scripts.
"""
GOLD = {
    "subtaskaenglish": {
        "11": "support",
        "12": "comment",
        "13": "deny",
        "14": "query",
        "15": "comment",
        "21": "support",
    },
    "subtaskbenglish": {"11": "true", "21": "false", "31": "unverified"},
}
SUBMISSION = {
    "subtaskaenglish": {"11": "support", "12": "comment", "13": "comment", "14": "query", "15": "comment"},
    "subtaskbenglish": {"11": ["true", 0.9], "21": ["true", 0.6], "31": ["unverified", 0.4]},
}
EXAMPLES = tuple(json.dumps(content, indent=1) for content in (GOLD, SUBMISSION))
HEADERS = ("task", "measure", "class", "value")


def score(gold, submission, edition=EDITIONS[0]):
    """Return the scores of a submission, both texts as for `submission.score`, the tasks one after the other."""
    results = score_submission(gold, submission, edition=edition, per_class=True)
    rows, lines = [], []
    for task, result in results.items():
        rows += _rows(task, result)
        for language, part in result.get("languages", {}).items():
            rows += _rows(f"{task}, {language}", part)
        lines.append(f"{task}, edition {edition}: {result['num_references']:,} references.")
        lines += [f"{task}: {note}" for note in [*result["warnings"], *_notes(task, result, edition)]]
    return space.Scores(rows, {"edition": edition, **results}, "\n".join(lines))


def _rows(task, result):
    rows = [[task, name, "", value] for name, value in result.items() if isinstance(value, (int, float))]
    # "support" is a label too.
    for measure, key in (("recall", "recall"), ("num_references", "support")):
        for label, value in zip(result["labels"], result["per_class"][key], strict=True):
            rows.append([task, measure, label, value])
    return rows


def _notes(task, result, edition):
    errors = [name for name in result if name.startswith("confidence_rmse")]
    if errors:
        yield f"lower is better for {' and '.join(errors)}."
    if (task, edition) == ("veracity", "2019"):
        yield "recall compares labels alone, while accuracy never counts unverified as right."


def build():
    """Return the page."""
    return space.build(
        name="rumoureval",
        introduction=INTRODUCTION,
        inputs=[
            space.Input(label, example, (".json",))
            for label, example in zip(("Gold", "Submission"), EXAMPLES, strict=True)
        ],
        headers=HEADERS,
        widths=("24%", "36%", "20%", "20%"),
        score=score,
        choices=EDITIONS,
        choice_label="Edition",
    )


if __name__ == "__main__":
    space.launch(build())
