"""Signatures are read back as they were written, and bounds are what brute force over all completions finds."""

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from temporal_rumors import macro_prf, signature
from temporal_rumors.errors import UserError

PARTS = {
    "benchmark": "pheme_temporal@1.0.0",
    "protocol": "chrono",
    "model": "org/name@1",
    "settings": "0123abcd",
    "classes": "non-rumour,rumour",
    "runs": "1",
    "seeds": "0",
    "data": "0123abcd",
    "split": "4567cdef",
    "coverage": "100/430",
    "version": "0.1.0",
}
WHOLE = signature.compose(PARTS)
SUBMISSION = dict.fromkeys(signature.SUBMISSION_PARTS, "x")


def test_a_signature_is_one_plain_line_that_is_read_back() -> None:
    assert WHOLE.startswith("benchmark:pheme_temporal@1.0.0|protocol:chrono|model:org/name@1|")
    assert signature.parse(WHOLE) == PARTS
    assert signature.parse(f"  {WHOLE}\n") == PARTS


def test_a_submission_has_a_signature_of_its_own() -> None:
    assert signature.parse(signature.compose(SUBMISSION)) == SUBMISSION
    with pytest.raises(UserError, match=r"unknown name 'protocol'"):
        signature.parse(signature.compose(SUBMISSION) + "|protocol:chrono")


@example(" ", "metric")
@example("  a b  ", "metric")
@given(st.text(st.characters(codec=None), min_size=1), st.sampled_from(["classes", "model", "metric"]))
def test_any_value_is_read_back_and_stays_on_one_line(value: str, name: str) -> None:
    parts = PARTS | {name: value}
    text = signature.compose(parts)
    assert text.isprintable()
    assert signature.parse(text) == parts


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "'' is not name:value"),
        ("pheme_temporal chrono", "'pheme_temporal chrono' is not name:value"),
        (WHOLE + "|", "'' is not name:value"),
        (WHOLE.replace("|protocol:chrono", "|protocol:"), "'protocol:' is not name:value"),
        (WHOLE.replace("|protocol:chrono", "|:chrono"), "':chrono' is not name:value"),
        (WHOLE + "|runs:1", "'runs' stands in it twice"),
        (WHOLE.replace("protocol:", "protocal:"), r"unknown name 'protocal' \(did you mean 'protocol'\?\)"),
        (WHOLE[: WHOLE.index("|coverage")], "lacks coverage, version; was it cut off"),
        *(
            (WHOLE.replace("100/430", wrong), f"coverage '{wrong}' is none")
            for wrong in ("431/430", "0/0", "1", "-1/2")
        ),
    ],
)
def test_what_is_no_signature_is_refused_with_what_is_wrong(text: str, error: str) -> None:
    with pytest.raises(UserError, match=error):
        signature.parse(text)


def test_a_name_that_is_missing_is_not_written_either() -> None:
    with pytest.raises(UserError, match="lacks data"):
        signature.compose({name: value for name, value in PARTS.items() if name != "data"})


def test_the_coverage_bounds_the_accuracy() -> None:
    found = signature.coverage(signature.parse(WHOLE)["coverage"])
    assert (found.scored, found.in_part) == (100, 430)
    assert found.accuracy_bounds(0.5) == pytest.approx((50 / 430, 380 / 430))
    assert signature.coverage("7/7").accuracy_bounds(0.25) == (0.25, 0.25)


posts = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), min_size=1, max_size=9).filter(
    lambda rows: sum(not seen for _, _, seen in rows) <= 6
)


@given(posts, st.integers(3, 4))
def test_bounds_are_the_extremes_over_all_completions(rows: list[tuple[int, int, bool]], n_classes: int) -> None:
    references, predictions = ([row[column] for row in rows if row[2]] for column in (0, 1))
    missing = [row[0] for row in rows if not row[2]]
    classes = list(range(n_classes))
    scores = [
        macro_prf(predictions=predictions + list(answers), references=references + missing, labels=classes)
        for answers in product(classes, repeat=len(missing))
    ]
    in_part = [[row[0] for row in rows].count(code) for code in classes]
    found = signature.bounds(references, predictions, in_part)
    for name in ("accuracy", "f1"):
        values = [score[name] for score in scores]
        assert found[name] == pytest.approx((min(values), max(values)))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([0, 1], [0], [1, 1]), "1 predictions for 2 references"),
        (([0], [2], [1, 1]), "classes must be from 0 to 1, found 0 to 2"),
        (([], [], [0, 0]), "the test part has"),
        (([1, 1], [0, 0], [5, 1]), r"\[5, 1\] posts of each class, the predictions \[0, 2\]"),
    ],
)
def test_bounds_refuse_what_cannot_be_a_test_part(arguments: tuple[list[int], ...], error: str) -> None:
    with pytest.raises(UserError, match=error):
        signature.bounds(*arguments)
