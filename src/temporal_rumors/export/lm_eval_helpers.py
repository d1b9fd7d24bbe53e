"""What the tasks in this folder share; it needs datasets and scikit-learn alone, which lm-eval brings."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PARTS = ("train", "validation", "test")


def load(config: str, **_: Any) -> Any:
    """Return the parts of a configuration, which lie beside this file."""
    from datasets import DatasetDict, load_dataset

    files = {part: str(HERE / "data" / config / f"{part}.parquet") for part in PARTS}
    parts = load_dataset("parquet", data_files=files)
    names = parts["train"].features["label"].names
    # Few-shot examples and answers need the names of the classes beside their numbers.
    return DatasetDict({part: data.map(lambda _: {"classes": names}) for part, data in parts.items()})


def ranked(doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Score an answer that is the class whose name the model finds most likely."""
    likely = [score for score, *_ in results]
    predicted = likely.index(max(likely))
    return {"acc": predicted == doc["label"], "macro_f1": (doc["label"], predicted, len(doc["classes"]))}


def written(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score an answer that the model wrote: the class that it names first; an answer that names none is wrong."""
    predicted = _first(results[0], doc["classes"])
    return {
        "acc": predicted == doc["label"],
        "macro_f1": (doc["label"], predicted, len(doc["classes"])),
        "answered": predicted >= 0,
    }


def macro_f1(answers: Iterable[tuple[int, int, int]]) -> float:
    """Return macro-F1 over all classes; a class that no answer has and no post is of counts 0."""
    from sklearn.metrics import f1_score

    references, predictions, counts = zip(*answers, strict=True)
    return float(f1_score(references, predictions, labels=range(counts[0]), average="macro", zero_division=0))


def _first(text: str, classes: Sequence[str]) -> int:
    # The longest name first, as one may begin or end with another: non-rumour is not rumour.
    names = "|".join(re.escape(name) for name in sorted(classes, key=len, reverse=True))
    match = re.search(rf"(?<![\w-])({names})(?![\w-])", text, re.IGNORECASE)
    return -1 if match is None else [name.lower() for name in classes].index(match[1].lower())
