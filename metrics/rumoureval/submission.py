"""Read the official RumourEval files and score a submission against a key."""

import difflib
import json
from collections import Counter
from typing import Any

if __package__:
    from .scoring import LABELS, Answers, infer_task, read_answer, short
else:  # in the Space, where this folder is no package
    from scoring import LABELS, Answers, infer_task, read_answer, short

LANGUAGES = ("english", "danish", "russian")

_SUBTASKS = {
    f"subtask{letter}{language}": (task, language)
    for letter, task in (("a", "stance"), ("b", "veracity"))
    for language in LANGUAGES
}

Answered = dict[str, dict[str, dict[str, Any]]]  # {task: {language: {id: answer}}}


def read(content: bytes | str, name: str = "the file", strict: bool = True) -> Answered:
    """Read a key or a submission in the JSON of RumourEval 2019 or of RumourEval 2017.

    Args:
        content: of 2019, one object with {id: answer} for each sub-task and language ("subtaskaenglish",
            "subtaskbrussian", ...), an empty one where there is no data; or of 2017, one {id: answer}, which is
            taken for English, its task inferred from the labels. An answer is a label, or [label, confidence].
            UTF-8.
        name: what errors call the content, as its file name.
        strict: refuse repeated keys, NaN and Infinity, unknown sub-tasks, labels and confidences. With False the
            file is read as the official scripts do: the last of repeated keys counts, other sub-tasks are not looked
            at, and answers only when they are scored.

    Returns:
        {task: {language: {id: answer}}}, with the tasks and languages that have data.

    Raises:
        ValueError: content that is anything else, naming it and what is wrong in it.
    """
    data = _parse(content, name, strict)
    if not isinstance(data, dict):
        raise ValueError(
            f"{name}: found {type(data).__name__} at the top, expected an object {{id: answer}}, or one that holds "
            "such an object for each sub-task, as 'subtaskaenglish'."
        )
    nested = [isinstance(value, dict) for value in data.values()]
    if any(nested):
        answers = _combined(data, name, strict)
    else:
        answers = {_flat_task(data, name): {"english": data}} if data else {}
    if strict:
        for task, languages in answers.items():
            for language, ids in languages.items():
                for id, value in ids.items():
                    read_answer(value, f"{name}, {task}, {language}, id {id!r}", task, strict)
    return answers


def score(
    gold: bytes | str,
    submission: bytes | str,
    *,
    edition: str = "paper",
    strict: bool = True,
    missing: str = "incorrect",
    per_class: bool = False,
    gold_name: str = "gold",
    submission_name: str = "submission",
) -> dict[str, dict[str, Any]]:
    """Score a submission file against a key file.

    Args:
        gold, submission: contents of the two files, as for `read`.
        edition, strict, missing, per_class: as for `rumoureval`.
        gold_name, submission_name: what errors and warnings call the files.

    Returns:
        For each task in gold, "stance" and "veracity", the dict of `rumoureval` over all languages, and "warnings", a
        list of sentences; where gold has several languages also "languages", the dict of each. A task or a language
        without any answers counts as one whose answers are all missing.

    Raises:
        ValueError: as for `read` and `rumoureval`; no references in gold; a submission that answers other tasks
            only.
    """
    references = read(gold, gold_name, strict)
    predictions = read(submission, submission_name, strict)
    if not references:
        raise ValueError(f"{gold_name}: no references: there is nothing to score.")
    other = sorted(predictions.keys() - references.keys())
    if other and not predictions.keys() & references.keys():
        raise ValueError(
            f"{submission_name} answers {' and '.join(other)}, {gold_name} holds references for "
            f"{' and '.join(references)}: nothing to score."
        )
    unscored = [
        f"{submission_name} also answers {task}, for which {gold_name} holds no references: not scored."
        for task in other
    ]
    options: dict[str, Any] = {"edition": edition, "strict": strict, "missing": missing, "per_class": per_class}
    results = {}
    for task in (task for task in LABELS if task in references):
        try:
            answers = _pair(references[task], predictions.get(task, {}))
            result = answers.result(task=task, **options)
            languages = {}
            if len(references[task]) > 1:
                for language in sorted(references[task]):
                    answered = predictions.get(task, {}).get(language, {})
                    part = _pair({language: references[task][language]}, {language: answered})
                    # Nothing answered counts as answered with confidences, also where the other answers have none.
                    languages[language] = {k: v for k, v in part.result(task=task, **options).items() if k in result}
            if languages:
                result["languages"] = languages
            result["warnings"] = answers.warnings(task=task, strict=strict) + unscored
        except ValueError as error:
            raise ValueError(f"{submission_name} against {gold_name}, {task}: {error}") from None
        results[task] = result
    return results


def _pair(references: dict[str, dict[str, Any]], predictions: dict[str, dict[str, Any]]) -> Answers:
    for language, ids in references.items():
        for id, label in ids.items():
            if isinstance(label, list):
                raise ValueError(
                    f"references, id {short(id)} ({language}): found {short(label)}, expected a label alone. "
                    "The key comes first, then the submission: are the two swapped?"
                )
    answers = Answers()
    answers.add(references=references, predictions=predictions)
    return answers


def _parse(content: bytes | str, name: str, strict: bool) -> Any:
    if isinstance(content, bytes):
        try:
            content = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}: not UTF-8 text, from byte {error.start:,} on.") from None
    hooks: dict[str, Any] = {"object_pairs_hook": _unique, "parse_constant": _no_constant} if strict else {}
    try:
        return json.loads(content.removeprefix("\ufeff"), **hooks)
    except RecursionError:
        raise ValueError(f"{name}: nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"{name}: {'not JSON: ' * isinstance(error, json.JSONDecodeError)}{error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, count in Counter(key for key, _ in pairs).items():
            # The official key of 2019 holds the sub-tasks without data twice each.
            if count > 1 and any(value != {} for other, value in pairs if other == key):
                raise ValueError(f"{key!r} occurs more than once.")
    return found


def _no_constant(constant: str) -> None:
    raise ValueError(f"found {constant}, expected a label or a number from 0 to 1.")


def _combined(data: dict[str, Any], name: str, strict: bool) -> Answered:
    answers: Answered = {}
    for key, ids in data.items():
        if key not in _SUBTASKS:
            if strict:
                near = difflib.get_close_matches(key.lower(), _SUBTASKS, 1, 0.8)
                raise ValueError(
                    f"{name}: found the sub-task {short(key)}"
                    f"{f' (did you mean {near[0]!r}?)' if near else ''}, expected 'subtask', 'a' (stance) or 'b' "
                    f"(veracity), and {', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}, as in 'subtaskaenglish'."
                )
            continue
        if not isinstance(ids, dict):
            raise ValueError(f"{name}, {key}: found {type(ids).__name__}, expected an object {{id: answer}}.")
        if ids:
            task, language = _SUBTASKS[key]
            answers.setdefault(task, {})[language] = ids
    return answers


def _flat_task(data: dict[str, Any], name: str) -> str:
    labels = ((id, value[0] if isinstance(value, list) and value else value) for id, value in data.items())
    return infer_task(((f"id {id!r}", label) for id, label in labels if isinstance(label, str)), name)
