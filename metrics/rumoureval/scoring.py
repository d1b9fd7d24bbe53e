"""RumourEval scores for rumour stance and veracity, as the 2017 and 2019 scripts and the 2017 paper define them."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

LABELS = {"stance": ("support", "deny", "query", "comment"), "veracity": ("true", "false", "unverified")}
EDITIONS = ("paper", "2017", "2019")
MISSING = ("incorrect", "error")
OTHER = "other"  # all labels that a task does not have, in its confusion matrix

_NEAR = 0.05  # macro-F1 this little above that of the majority answer shows hardly more than the majority answer does

Key = tuple[str, str | int]  # language ("" where there is none), and id or position
Pair = tuple[str, str]  # reference, answer
Answer = tuple[str, float | None]  # label, confidence


def rumoureval(
    *,
    predictions: Any,
    references: Any,
    task: str | None = None,
    edition: str = "paper",
    confidences: Any = None,
    reference_confidences: Any = None,
    strict: bool = True,
    missing: str = "incorrect",
    per_class: bool = False,
) -> dict[str, Any]:
    """Score answers to RumourEval's stance task (SDQC) or veracity task.

    The three editions define different scores; a score that an edition does not define is absent:

    | key | paper | 2017 | 2019 |
    | --- | --- | --- | --- |
    | accuracy | stance, veracity | stance, veracity | stance, veracity |
    | balanced_accuracy | veracity | | |
    | macro_f1 | | | stance, veracity |
    | macro_f1_thresholded | | | veracity with confidences |
    | confidence_rmse | | veracity with confidences | veracity with confidences |
    | confidence_rmse_correct | veracity with confidences | | |
    | confidence_rmse_incorrect_as_1 | veracity with confidences | | |
    | final_score, final_score_macro | veracity with confidences | | |
    | num_references, num_matched, num_extra | always | always | always |

    - accuracy: share of the references answered right, a missing answer being wrong. In edition 2019 of veracity
      *unverified* is never right.
    - balanced_accuracy: mean over the classes of the references of the share answered right (mean recall).
    - macro_f1: mean F1 of the labels that occur, over the answered references only; the mean over the languages.
    - macro_f1_thresholded: the same with answers of a confidence below 0.5 read as *unverified*. Both are in
      circulation as the 2019 macro-F1.
    - confidence_rmse: root of the mean over the answered references of (1 - c)^2 for a right answer, else c^2
      for an *unverified* reference, else 1. Without any answer 0.0 in edition 2019, as its script has it, and 1.0
      in edition 2017, whose script fails.
    - confidence_rmse_correct: root mean square of confidence - reference confidence over the right answers; 1.0
      if there are none. This is rho in the recipe of the paper's evaluation card.
    - confidence_rmse_incorrect_as_1: the same over all references, a wrong or missing answer counting as 1; the
      other reading of the paper's sentence "Incorrect examples have an RMSE of 1".
    - final_score: (1 - confidence_rmse_correct) x accuracy, as in the recipe. It rewards over-confidence: whoever
      is always sure gets rho = 0, however many answers are wrong.
    - final_score_macro: (1 - confidence_rmse_correct) x balanced_accuracy, as in the card's prose.
    - num_references, num_matched, num_extra: references, those among them with an answer, and answers without a
      reference (which are ignored).

    Args:
        predictions: n answers: a list, tuple, array, Series or dataset column of labels, aligned with references
            by position; or {id: answer}, where an answer is a label or [label, confidence]; or {language: {id:
            answer}}. Ids and languages are str.
        references: the true labels in the same form, without confidences. Editions paper and 2017 pool the
            languages; 2019 pools accuracy and confidence_rmse and averages macro-F1 over them.
        task: "stance" (labels support, deny, query, comment) or "veracity" (true, false, unverified); by default
            the one whose labels the references hold.
        edition: "paper" (Derczynski et al. 2017, as its evaluation card states it), "2017" or "2019" (the
            official scripts).
        confidences: of the predictions, 0 to 1, in the form of the predictions, where they are not in the answers
            already: for all of them, or none. Veracity only.
        reference_confidences: of the references, in their form; 1.0 unless given. Edition paper only.
        strict: refuse unknown labels and confidences outside 0 to 1. With False they are used as the official
            scripts use them: an unknown label is a wrong answer that macro-F1 averages over, a bool confidence is
            a number, and an answer without a reference is not looked at. A label that is no str, a confidence
            that is no number, a pair that is not [label, confidence] and any pair for stance are always refused.
        missing: a reference without an answer is "incorrect", or an "error".
        per_class: also return "labels"; "per_class", lists "recall" (0.0 without references), "support" and
            "missing" in the order of "labels"; and "confusion_matrix", rows being references and columns answers.
            These compare labels alone, so in edition 2019 too *unverified* has a recall. With strict=False labels
            that the task does not have count together as "other".

    Returns:
        dict of the keys above: floats, and ints for num_*. An empty submission gets accuracy 0.0 and the other
        scores as if every answer were missing, those of confidences included.

    Raises:
        ValueError: no references; forms that do not fit each other; anything refused as above, naming the id or
            position; a score that would not be finite.

    Source: Derczynski et al. (2017), section 4; Gorrell et al. (2019), section 4, and the official scripts of both.
    """
    answers = Answers()
    answers.add(
        predictions=predictions,
        references=references,
        confidences=confidences,
        reference_confidences=reference_confidences,
    )
    return answers.result(task=task, edition=edition, strict=strict, missing=missing, per_class=per_class)


class _Example(NamedTuple):
    key: Key
    reference: str
    answer: str | None
    confidence: float  # nan where there is none
    reference_confidence: float


class _Checked(NamedTuple):
    task: str
    examples: list[_Example]
    extra: list[Key]  # of answers without a reference, sorted
    with_confidences: bool


class Answers:
    """Predictions and references as they were passed, in one batch or more; checked and scored by `result`."""

    def __init__(self) -> None:
        self.form: str | None = None  # "lists", "ids" or "languages"
        self.inputs: dict[str, Any] = {}  # argument: a list, or {language: {id: value}} with language "" for ids

    def __len__(self) -> int:
        references = self.inputs.get("references", [])
        return len(references) if isinstance(references, list) else sum(map(len, references.values()))

    def add(
        self, *, predictions: Any, references: Any, confidences: Any = None, reference_confidences: Any = None
    ) -> None:
        """Add a batch in one of the forms that `rumoureval` takes; one that is refused changes nothing."""
        given = {
            "predictions": predictions,
            "references": references,
            "confidences": confidences,
            "reference_confidences": reference_confidences,
        }
        for name in ("predictions", "references"):
            if given[name] is None:
                raise ValueError(f"{name} are missing: pass both predictions and references.")
        batch = Answers()
        batch.form, batch.inputs = _read({name: values for name, values in given.items() if values is not None})
        self.merge(batch)

    def merge(self, other: "Answers") -> None:
        """Add what another Answers holds."""
        form, inputs = other.form, other.inputs
        if form is None:
            return
        if self.form not in (None, form):
            raise ValueError(f"this batch is in the form of {form}, earlier ones of {self.form}: use one form.")
        if form == "lists":
            for name in sorted(self.inputs.keys() ^ inputs.keys()) if self.form else ():
                raise ValueError(f"{name} are given for some batches only: pass them with every batch, or with none.")
            for name, values in inputs.items():
                self.inputs.setdefault(name, []).extend(values)
        else:
            for name, table in inputs.items():
                for language, ids in table.items():
                    for repeated in sorted(self.inputs.get(name, {}).get(language, {}).keys() & ids.keys()):
                        raise ValueError(f"{name}, {_place((language, repeated))}: an earlier batch holds this id too.")
            for name, table in inputs.items():
                earlier = self.inputs.setdefault(name, {})
                for language, ids in table.items():
                    earlier.setdefault(language, {}).update(ids)
        self.form = form

    def result(
        self,
        *,
        task: str | None = None,
        edition: str = "paper",
        strict: bool = True,
        missing: str = "incorrect",
        per_class: bool = False,
    ) -> dict[str, Any]:
        """Score what was added; arguments, result and errors are those of `rumoureval`."""
        _check_option("edition", edition, EDITIONS)
        _check_option("missing", missing, MISSING)
        checked = self._check(task, strict)
        if "reference_confidences" in self.inputs and not (edition == "paper" and checked.with_confidences):
            raise ValueError(
                "reference_confidences are only compared with the confidences of veracity answers, in edition "
                f"'paper': found task {checked.task!r}, edition {edition!r}, answers "
                f"{'with' if checked.with_confidences else 'without'} confidences. Leave them out."
            )
        examples = checked.examples
        if missing == "error" and (found := _missing_warning(checked)):
            raise ValueError(f"{found} Answer all, or pass missing='incorrect' to count them as wrong.")
        scores = _score(checked, edition)
        for name, value in scores.items():
            if not math.isfinite(value):
                raise ValueError(f"{name} is {value}: {_extreme(examples)}. Confidences are from 0 to 1.")
        result: dict[str, Any] = {
            **scores,
            "num_references": len(examples),
            "num_matched": len(_pairs(examples)),
            "num_extra": len(checked.extra),
        }
        if per_class:
            result.update(_per_class(checked))
        return result

    def warnings(self, *, task: str | None = None, strict: bool = True) -> list[str]:
        """Say what the scores do not show; see `score_warnings`."""
        checked = self._check(task, strict)
        found = (_missing_warning(checked), _confidence_warning(checked), _majority_warning(checked.examples))
        return [warning for warning in found if warning]

    def _table(self, name: str) -> dict[Key, Any]:
        values = self.inputs.get(name, {})
        if isinstance(values, list):
            return {("", position): value for position, value in enumerate(values)}
        return {(language, id): values[language][id] for language in sorted(values) for id in sorted(values[language])}

    def _check(self, task: str | None, strict: bool) -> _Checked:
        if task is not None:
            _check_option("task", task, tuple(LABELS))
        references = {
            key: read_label(value, f"references, {_place(key)}") for key, value in self._table("references").items()
        }
        if not references:
            raise ValueError("no references: there is nothing to score.")
        if task is None:
            task = infer_task(((_place(key), label) for key, label in references.items()), "references")
        if strict:
            for key, label in references.items():
                read_label(label, f"references, {_place(key)}", task)

        predictions = self._table("predictions")
        answers = {
            key: read_answer(value, f"predictions, {_place(key)}", task, strict)
            for key, value in predictions.items()
            if strict or key in references
        }
        if "confidences" in self.inputs:
            answers = self._with_confidences(answers, predictions, task, strict)
        bare = [key for key, (_, confidence) in answers.items() if confidence is None]
        if 0 < len(bare) < len(answers):
            raise ValueError(
                f"predictions, {_place(bare[0])}: found no confidence, but other answers have one. "
                "Give every answer a confidence, or none."
            )
        expected = dict.fromkeys(references, 1.0)
        if "reference_confidences" in self.inputs:
            given = self._table("reference_confidences")
            _check_keys("reference_confidences", given, "references", references)
            expected = {
                key: read_confidence(value, f"reference_confidences, {_place(key)}", strict)
                for key, value in given.items()
            }
        examples = []
        for key, reference in references.items():
            answer, confidence = answers.get(key, (None, None))
            examples.append(
                _Example(key, reference, answer, math.nan if confidence is None else confidence, expected[key])
            )
        extra = sorted(predictions.keys() - references.keys())
        return _Checked(task, examples, extra, task == "veracity" and not bare)

    def _with_confidences(
        self, answers: dict[Key, Answer], predictions: dict[Key, Any], task: str, strict: bool
    ) -> dict[Key, Answer]:
        if task == "stance":
            raise ValueError("confidences are given, but the stance task has none: leave them out.")
        given = self._table("confidences")
        _check_keys("confidences", given, "predictions", predictions)
        for key, (_, confidence) in answers.items():
            if confidence is not None:
                raise ValueError(
                    f"predictions, {_place(key)}: found [label, confidence] although confidences are passed too. "
                    "Give them in one place."
                )
        return {
            key: (label, read_confidence(given[key], f"confidences, {_place(key)}", strict))
            for key, (label, _) in answers.items()
        }


def score_warnings(
    *, predictions: Any, references: Any, confidences: Any = None, task: str | None = None, strict: bool = True
) -> list[str]:
    """Say what the scores of these answers do not show.

    Args:
        predictions, references, confidences, task, strict: as for `rumoureval`.

    Returns:
        Sentences, none if all is well. References have no answer, with an id of them and one of the answers without a
        reference; veracity answers have no confidences; and at most one of these: every answer is the same label
        although the references differ; macro-F1 over the answered references, languages pooled, is less than 0.05
        above that of always giving the most frequent label; accuracy, labels compared alone, is below that of it.

    Raises:
        ValueError: as for `rumoureval`.
    """
    answers = Answers()
    answers.add(predictions=predictions, references=references, confidences=confidences)
    return answers.warnings(task=task, strict=strict)


def _missing_warning(checked: _Checked) -> str:
    missing = [example.key for example in checked.examples if example.answer is None]
    if not missing:
        return ""
    found = f"{len(missing):,} of {len(checked.examples):,} references have no answer, such as {_place(missing[0])}"
    if checked.extra:
        found += f"; {len(checked.extra):,} answers have no reference, such as {_place(checked.extra[0])}"
        found += ". Compare the ids"
    return f"{found}."


def _confidence_warning(checked: _Checked) -> str:
    if checked.task == "stance" or checked.with_confidences:
        return ""
    return "The answers have no confidences: the scores that need them are left out."


def _majority_warning(examples: list[_Example]) -> str:
    pairs = _pairs(examples)
    counts = Counter(example.reference for example in examples)
    if not pairs or len(counts) == 1:
        return ""
    majority = min(counts, key=lambda label: (-counts[label], label))
    share = counts[majority] / len(examples)
    answers = {answer for _, answer in pairs}
    if len(answers) == 1:
        return (
            f"Every answer is {answers.pop()!r}: the accuracy is at most the share of one label "
            f"({share:.4f} of the references are {majority!r})."
        )
    found = _macro_f1(pairs)
    floor = _macro_f1([(example.reference, majority) for example in examples])
    if found < floor + _NEAR:
        return (
            f"Macro-F1 {found:.4f} is not clearly above the {floor:.4f} of always answering {majority!r}: "
            f"accuracy says little here ({share:.4f} of the references are {majority!r})."
        )
    accuracy = sum(reference == answer for reference, answer in pairs) / len(examples)
    if accuracy < share:
        return (
            f"The accuracy of the labels alone, {accuracy:.4f}, is below the {share:.4f} of always answering "
            f"{majority!r}, although macro-F1 {found:.4f} is above its {floor:.4f}."
        )
    return ""


# Scores


def _score(checked: _Checked, edition: str) -> dict[str, float]:
    task, examples, _, with_confidences = checked
    right = [example for example in examples if _is_right(example, task, edition)]
    scores = {"accuracy": len(right) / len(examples)}
    if edition == "2019":
        scores["macro_f1"] = _mean_macro_f1(examples)
    if task == "stance":
        return scores
    if edition == "paper":
        scores["balanced_accuracy"] = _balanced_accuracy(examples)
    if not with_confidences:
        return scores
    if edition == "paper":
        squares = [_square(example.confidence - example.reference_confidence) for example in right]
        rho = _root_mean(squares, 1.0)
        scores["confidence_rmse_correct"] = rho
        scores["confidence_rmse_incorrect_as_1"] = _root_mean(squares + [1.0] * (len(examples) - len(right)), 1.0)
        scores["final_score"] = (1 - rho) * scores["accuracy"]
        scores["final_score_macro"] = (1 - rho) * scores["balanced_accuracy"]
        return scores
    if edition == "2019":
        scores["macro_f1_thresholded"] = _mean_macro_f1(
            [e if e.answer is None or e.confidence >= 0.5 else e._replace(answer="unverified") for e in examples]
        )
    squares = [_cost(example, task, edition) for example in examples if example.answer is not None]
    scores["confidence_rmse"] = _root_mean(squares, 0.0 if edition == "2019" else 1.0)
    return scores


def _is_right(example: _Example, task: str, edition: str) -> bool:
    if (task, edition) == ("veracity", "2019") and example.answer not in ("true", "false"):
        return False
    return example.answer == example.reference


def _cost(example: _Example, task: str, edition: str) -> float:
    if _is_right(example, task, edition):
        return _square(1 - example.confidence)
    return _square(example.confidence) if example.reference == "unverified" else 1.0


def _square(value: float) -> float:
    return value * value  # where ** raises OverflowError, this is inf


def _root_mean(squares: list[float], without: float) -> float:
    if not squares:
        return without
    try:
        return math.sqrt(math.fsum(squares) / len(squares))
    except OverflowError:
        return math.inf


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)


def _pairs(examples: Iterable[_Example]) -> list[Pair]:
    return [(example.reference, example.answer) for example in examples if example.answer is not None]


def _mean_macro_f1(examples: list[_Example]) -> float:
    languages: dict[str, list[_Example]] = {}
    for example in examples:
        languages.setdefault(example.key[0], []).append(example)
    return _mean([_macro_f1(_pairs(group)) for group in languages.values()])


def _macro_f1(pairs: list[Pair]) -> float:
    if not pairs:
        return 0.0
    hits = Counter(reference for reference, answer in pairs if reference == answer)
    seen = Counter(label for pair in pairs for label in pair)
    return _mean([2 * hits[label] / count for label, count in seen.items()])


def _balanced_accuracy(examples: list[_Example]) -> float:
    support = Counter(example.reference for example in examples)
    hits = Counter(example.reference for example in examples if example.answer == example.reference)
    return _mean([hits[label] / count for label, count in support.items()])


def _per_class(checked: _Checked) -> dict[str, Any]:
    known = LABELS[checked.task]

    def named(label: str | None) -> str | None:
        return label if label is None or label in known else OTHER

    hits = Counter(named(e.reference) for e in checked.examples if e.reference == e.answer)
    pairs = Counter((named(example.reference), named(example.answer)) for example in checked.examples)
    labels = [*known, *([OTHER] if any(OTHER in pair for pair in pairs) else [])]
    matrix = [[pairs[reference, answer] for answer in labels] for reference in labels]
    missing = [pairs[label, None] for label in labels]
    support = [sum(row) + absent for row, absent in zip(matrix, missing, strict=True)]
    recall = [hits[label] / count if count else 0.0 for label, count in zip(labels, support, strict=True)]
    return {
        "labels": labels,
        "per_class": {"recall": recall, "support": support, "missing": missing},
        "confusion_matrix": matrix,
    }


# Inputs


def read_label(value: Any, where: str, task: str | None = None) -> str:
    """Return a label as a plain str; one of the task's, if a task is given."""
    if not isinstance(value, str):
        hint = ""
        if isinstance(value, Integral) and not isinstance(value, bool):
            hint = " Of a ClassLabel column pass the names: features[...].int2str(values)."
        elif isinstance(value, (list, tuple)):
            hint = " Pass confidences apart from the labels, as confidences= or reference_confidences=."
        raise ValueError(f"{where}: found {type(value).__name__} ({short(value)}), expected a label as a str.{hint}")
    label = str.__str__(value)  # of an Enum's member its value; str() gives its name
    if task is not None and label not in LABELS[task]:
        hint = " Labels are lower case." if label.strip().lower() in LABELS[task] else ""
        raise ValueError(f"{where}: found label {short(label)}, expected one of {', '.join(LABELS[task])}.{hint}")
    return label


def read_confidence(value: Any, where: str, strict: bool) -> float:
    """Return a confidence as a float, which is from 0 to 1 if strict."""
    if not isinstance(value, Real) or (strict and isinstance(value, bool)):
        raise ValueError(
            f"{where}: found {type(value).__name__} ({short(value)}), expected a confidence, a number from 0 to 1."
        )
    try:
        confidence = float(value)
    except OverflowError:
        confidence = math.inf
    if strict and not 0 <= confidence <= 1:
        hint = " Divide percentages by 100." if 1 < confidence <= 100 else ""
        raise ValueError(f"{where}: found confidence {short(value)}, expected a number from 0 to 1.{hint}")
    return confidence


def read_answer(value: Any, where: str, task: str, strict: bool) -> Answer:
    """Return the label and the confidence, if any, of an answer: a label or, for veracity, [label, confidence]."""
    label_task = task if strict else None
    if not isinstance(value, (list, tuple)):
        return read_label(value, where, label_task), None
    if task == "stance":
        raise ValueError(f"{where}: found {short(value)}, expected a label alone: the stance task has no confidences.")
    if len(value) != 2:
        raise ValueError(f"{where}: found {short(value)}, expected [label, confidence].")
    return read_label(value[0], where, label_task), read_confidence(value[1], where, strict)


def infer_task(labels: Iterable[tuple[str, str]], where: str) -> str:
    """Return the one task among whose labels some of these are; they are given as (place, label)."""
    tasks = {label: task for task, known in LABELS.items() for label in known}
    first: dict[str | None, str] = {}
    for place, label in labels:
        first.setdefault(tasks.get(label), f"{short(label)} ({place})")
    known = {task: found for task, found in first.items() if task is not None}
    if len(known) == 1:
        return next(iter(known))
    found = " and ".join((known or first).values()) or "no labels"
    expected = " or ".join(f"of {task} ({', '.join(labels)})" for task, labels in LABELS.items())
    raise ValueError(f"{where}: found {found}, expected the labels {expected}, of one task only.")


def _read(given: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the form of the arguments (None if all are empty), and copies of them as `Answers.inputs` holds them."""
    forms: dict[str, set[str]] = {}
    inputs: dict[str, Any] = {}
    for name, values in given.items():
        if isinstance(values, Mapping):
            form = _mapping_form(values, name)
            tables = values if form == "languages" else {"": values}
            # Copied through and through: a caller may fill the same pair anew for the next batch.
            inputs[name] = {k: {id: _copied(value) for id, value in v.items()} for k, v in tables.items()}
            # Without ids it fits either form.
            forms.setdefault(form if values else "mapping", set()).add(name)
        else:
            inputs[name] = _column(values, name)
            forms.setdefault("lists", set()).add(name)
    empty = forms.pop("mapping", set())
    if len(forms) > 1 or (empty and "lists" in forms):
        found = {**forms, **({"mapping": empty} if empty else {})}
        described = " and ".join(f"{', '.join(sorted(names))} in the form of {form}" for form, names in found.items())
        raise ValueError(
            f"found {described}: pass all as lists, all as {{id: ...}}, or all as {{language: {{id: ...}}}}."
        )
    if not forms:
        return None, {}
    (form,) = forms
    if form == "lists":
        _check_columns(inputs)
        return ("lists", inputs) if inputs["references"] else (None, {})
    return form, inputs


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


def _mapping_form(values: Mapping[Any, Any], name: str) -> str:
    nested = [isinstance(value, Mapping) for value in values.values()]
    tables = [values, *(values.values() if all(nested) else [])]
    for key in (key for table in tables for key in table):
        if not isinstance(key, str):
            raise ValueError(f"{name}: found the key {short(key)} ({type(key).__name__}), expected ids as str.")
    if any(nested) and not all(nested):
        key = next(key for key, value in values.items() if isinstance(value, Mapping))
        raise ValueError(f"{name}, id {key!r}: found a mapping among answers, expected a label or [label, confidence].")
    return "languages" if all(nested) else "ids"


def _column(values: Any, name: str) -> list[Any]:
    if type(values).__module__.startswith("datasets."):
        values = values[:]  # a lazy column would be read row by row
    for convert in ("to_pylist", "tolist"):  # Arrow; numpy, pandas, torch
        if hasattr(values, convert):
            values = getattr(values, convert)()
            break
    if not isinstance(values, (list, tuple)):
        raise ValueError(
            f"{name}: found {type(values).__name__}, expected a list, tuple, array, Series or column, or a dict by id."
        )
    return list(values)


def _check_columns(columns: dict[str, list[Any]]) -> None:
    expected = len(columns["references"])
    for name, values in columns.items():
        if len(values) != expected:
            raise ValueError(f"{len(values):,} {name} for {expected:,} references: pass one for each.")
        for position, value in enumerate(values):
            if name in ("predictions", "references"):
                read_label(value, f"{name}, position {position}")
            else:
                read_confidence(value, f"{name}, position {position}", strict=False)


def _check_keys(name: str, found: dict[Key, Any], of: str, expected: dict[Key, Any]) -> None:
    for key in expected:
        if key not in found:
            raise ValueError(f"{name}, {_place(key)}: missing, expected one for each of the {of}.")
    for key in found:
        if key not in expected:
            raise ValueError(f"{name}, {_place(key)}: not among the {of}.")


def _check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise ValueError(f"{name} is {value!r}: expected {' or '.join(map(repr, options))}.")


def _place(key: Key) -> str:
    language, id = key
    if isinstance(id, int):
        return f"position {id}"
    return f"id {short(id)}" + (f" ({language})" if language else "")


def _extreme(examples: list[_Example]) -> str:
    """Name the answer whose confidence is the most out of range."""

    def size(example: _Example) -> float:
        distance = abs(example.confidence - example.reference_confidence)
        return distance if math.isfinite(distance) else math.inf

    worst = max((example for example in examples if example.answer is not None), key=size)
    return f"{_place(worst.key)} has confidence {worst.confidence}, reference confidence {worst.reference_confidence}"


def short(value: object) -> str:
    """Return how Python writes a value, cut where it gets long."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
