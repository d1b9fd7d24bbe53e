"""Macro precision, recall and F1 from counts of (reference, prediction) pairs."""

import marshal
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

Label = int | str | bool

PADDING = -100  # what cross-entropy losses and token classification put where there is nothing to score

_CHUNK = 1 << 15  # labels counted at a time, so that the working arrays stay in the processor's cache
_TABLE = 1 << 16  # up to this many cells, pairs are counted in a table; beyond, by sorting
# str() of an Enum's member is its name, str.__str__() its value
_PLAIN: dict[str, Callable[[Any], Label]] = {"int": int, "str": str.__str__, "bool": bool}
_HASH = np.random.default_rng(0).integers(0, 1 << 31, 256, dtype=np.uint32) * 2 + 1


def macro_prf(
    *,
    predictions: Any,
    references: Any,
    labels: Any = None,
    zero_division: float = 0.0,
    ignore_index: Label | None = None,
    per_class: bool = False,
) -> dict[str, Any]:
    """Macro-averaged precision, recall and F1, and accuracy, of predicted labels.

    Args:
        predictions: n predicted labels, all int, all str or all bool: a list, tuple, numpy array, pandas
            Series, Arrow array, tensor or dataset column.
        references: n true labels of the same kind.
        labels: the classes to average over, in the order to report them; by default all labels that occur in
            predictions or references, sorted.
        zero_division: the score of a class for which it is undefined: 0.0, 1.0, or nan to leave the class out
            of the mean.
        ignore_index: positions whose reference is this label are dropped.
        per_class: also return the scores of every class.

    Returns:
        dict: "precision", "recall" and "f1", each the unweighted mean over the classes ("f1" is the mean of
        the classes' F1, not the F1 of the means); "accuracy"; "labels", the classes averaged over; with
        `per_class` also "per_class", a dict of lists "precision", "recall", "f1" and "support" in the order of
        "labels".

    Raises:
        ValueError: inputs that are empty, of unequal length, or anything but labels of one kind; -100 among
            them without `ignore_index`; a label that `labels` does not list.

    Source: Mu, Bontcheva and Aletras (2023), section 2.5; scikit-learn's definition.
    """
    confusion = Confusion()
    confusion.update(predictions=predictions, references=references)
    return confusion.result(labels, zero_division, ignore_index, per_class)


class Confusion:
    """How often each (reference, prediction) pair of labels was seen: all that the scores need."""

    def __init__(self) -> None:
        self.kind: str | None = None
        self.pairs: Counter[tuple[Label, Label]] = Counter()

    def __len__(self) -> int:
        return sum(self.pairs.values())

    def update(self, *, predictions: Any, references: Any) -> None:
        """Count a batch of labels; a batch that is refused leaves the counts as they were."""
        predicted_kind, predicted = _read(predictions, "predictions")
        kind, expected = _read(references, "references")
        if len(predicted) != len(expected):
            raise ValueError(f"{len(predicted):,} predictions for {len(expected):,} references: pass one for each.")
        if kind is None:
            return
        if predicted_kind != kind:
            raise ValueError(
                f"predictions are {predicted_kind}, references are {kind} ({_short(_to_list(predicted[:1])[0])} "
                f"and {_short(_to_list(expected[:1])[0])} come first): use one kind of label."
            )
        self.add(kind, _count(predicted, expected))

    def merge(self, other: "Confusion") -> None:
        """Add the counts of another Confusion."""
        if other.kind is not None:
            self.add(other.kind, other.pairs)

    def add(self, kind: str, pairs: Counter[tuple[Label, Label]]) -> None:
        """Add counts of (reference, prediction) pairs whose labels are all of one kind: "int", "str" or "bool"."""
        if self.kind not in (None, kind):
            raise ValueError(f"this batch holds {kind} labels, earlier ones {self.kind}: use one kind of label.")
        self.kind = kind
        self.pairs.update(pairs)

    def result(
        self,
        labels: Any = None,
        zero_division: float = 0.0,
        ignore_index: Label | None = None,
        per_class: bool = False,
    ) -> dict[str, Any]:
        """Score what was counted; arguments, result and errors are those of `macro_prf`."""
        if zero_division not in (0, 1) and zero_division == zero_division:
            raise ValueError(f"zero_division is {zero_division!r}: expected 0.0, 1.0 or nan.")
        if not self.pairs:
            raise ValueError("no predictions and references: there is nothing to score.")
        classes = None if labels is None else self._classes(labels, ignore_index)
        pairs = self._kept_pairs(classes, ignore_index)
        seen = {label for pair in pairs for label in pair}
        if classes is None:
            classes = sorted(seen)
        elif not seen.issubset(classes):
            raise ValueError(
                f"predictions or references hold {_some(sorted(seen.difference(classes)))}, not among "
                f"labels={_some(classes)}: list every class that occurs."
            )

        row = {label: index for index, label in enumerate(classes)}
        hits, predicted, support = np.zeros((3, len(classes)), dtype=np.int64)
        for (reference, prediction), count in pairs.items():
            support[row[reference]] += count
            predicted[row[prediction]] += count
            if reference == prediction:
                hits[row[reference]] += count
        scores = {
            "precision": _divide(hits, predicted, zero_division),
            "recall": _divide(hits, support, zero_division),
            "f1": _divide(2 * hits, predicted + support, zero_division),
        }
        result: dict[str, Any] = {name: _mean(values) for name, values in scores.items()}
        result["accuracy"] = float(hits.sum() / support.sum())
        result["labels"] = classes
        if per_class:
            result["per_class"] = {name: values.tolist() for name, values in scores.items()}
            result["per_class"]["support"] = support.tolist()
        return result

    def _classes(self, labels: Any, ignore_index: Label | None) -> list[Label]:
        kind, values = _read(labels, "labels")
        if kind is None:
            raise ValueError("labels is empty: list the classes, or leave it out to use those that occur.")
        if kind != self.kind:
            raise ValueError(f"labels are {kind}, predictions and references are {self.kind}.")
        classes = list(_to_list(values))
        repeated = sorted(label for label, count in Counter(classes).items() if count > 1)
        if repeated:
            raise ValueError(f"labels lists {_some(repeated)} more than once.")
        if ignore_index is not None and ignore_index in classes:
            raise ValueError(f"labels lists {ignore_index!r}, which ignore_index drops: choose one of the two.")
        return classes

    def _kept_pairs(self, classes: list[Label] | None, ignore_index: Label | None) -> dict[tuple[Label, Label], int]:
        pairs: dict[tuple[Label, Label], int] = self.pairs
        if ignore_index is not None:
            kind, _ = _read([ignore_index], "ignore_index")
            if kind != self.kind:
                raise ValueError(f"ignore_index is {kind}, references are {self.kind}.")
            pairs = {pair: count for pair, count in pairs.items() if pair[0] != ignore_index}
            if not pairs:
                raise ValueError(f"every reference is ignore_index={ignore_index!r}: nothing is left to score.")
        padding = sum(count for pair, count in pairs.items() if PADDING in pair)
        if padding and (classes is None or PADDING not in classes):
            raise ValueError(
                f"predictions or references hold {PADDING} ({padding:,} of {len(self):,}), the usual mark of padding: "
                f"pass ignore_index={PADDING} to drop positions whose reference it is, or list {PADDING} in labels if "
                "it is a class."
            )
        return pairs


def _read(values: Any, name: str) -> tuple[str | None, Any]:
    """Return the kind of the labels ("int", "str" or "bool"; None if there are none) and the labels.

    The labels are a numpy array (int, bool or str of fixed width) or a list or tuple of exact int, bool or str.
    """
    if values is None:
        raise ValueError(f"{name} are missing: pass both predictions and references.")
    if type(values).__module__.startswith("datasets."):
        values = values[:]  # a lazy column would be read row by row
    if isinstance(values, (list, tuple)):
        return _read_list(values, name)
    return _read_array(_to_numpy(values, name), name)


def _to_numpy(values: Any, name: str) -> np.ndarray:
    if hasattr(values, "is_floating_point"):  # a torch tensor; numpy knows no bfloat16
        if values.is_floating_point():
            raise _not_labels(name, values.dtype)
        values = values.detach().cpu().numpy()
    missing = 0
    if type(values).__module__.startswith("pyarrow"):
        missing = values.null_count
    elif isinstance(values, np.ma.MaskedArray):
        missing = np.ma.count_masked(values)
    if missing:
        raise ValueError(
            f"{name}: missing values ({missing:,} of {len(values):,}), expected a label at every position."
        )
    if not hasattr(values, "__array__"):
        raise ValueError(
            f"{name}: found {type(values).__name__}, expected a list, tuple, array, Series or column of labels."
        )
    return np.asarray(values)


def _read_array(values: np.ndarray, name: str) -> tuple[str | None, Any]:
    if values.ndim != 1:
        hint = " Of a row of scores per example take the class, as in scores.argmax(-1)." if values.ndim == 2 else ""
        raise ValueError(f"{name}: found an array of shape {values.shape}, expected one dimension.{hint}")
    if len(values) == 0:
        return None, values
    kind = values.dtype.kind
    if kind == "b":
        return "bool", values
    if kind == "i" or (kind == "u" and values.max() <= np.iinfo(np.int64).max):
        return "int", values
    if kind == "U" and 0 < values.itemsize <= _HASH.nbytes:
        return "str", np.ascontiguousarray(values)
    if kind in "uUTO":
        return _read_list(values.tolist(), name)
    raise _not_labels(name, "bytes" if kind == "S" else values.dtype)


def _read_list(values: list | tuple, name: str) -> tuple[str | None, Any]:
    if len(values) == 0:
        return None, values
    if type(values[0]) is int:
        integers = _small_ints(values)
        if integers is not None:
            return "int", integers
    first: dict[str, int] = {}
    types = set(map(type, values))
    for found in types:
        kind = _kind(found)
        position = next(index for index, value in enumerate(values) if type(value) is found)
        if kind is None:
            raise _not_labels(name, found.__name__, f" ({_short(values[position])} at position {position:,})")
        first[kind] = min(position, first.get(kind, position))
    if len(first) > 1:
        found_kinds = " and ".join(
            f"{kind} ({_short(values[position])} at position {position:,})" for kind, position in sorted(first.items())
        )
        raise ValueError(f"{name}: found {found_kinds}, expected one kind of label.")
    (kind,) = first
    return kind, values if types <= {int, str, bool} else list(map(_PLAIN[kind], values))


def _small_ints(values: list | tuple) -> np.ndarray | None:
    """Return a list that starts with an int as an array; None if not all elements are ints of 32 bits.

    marshal writes such an int as the byte "i" and four more. So one pass both converts the elements and checks
    the type of each, where numpy would silently cast True and 1.0.
    """
    try:
        dump = marshal.dumps(values, 2)
    except ValueError:
        return None
    if len(dump) != 5 + 5 * len(values):
        return None
    elements = np.frombuffer(dump, dtype=[("type", "u1"), ("value", "<i4")], offset=5)
    return elements["value"] if (elements["type"] == ord("i")).all() else None


def _kind(found: type) -> str | None:
    if issubclass(found, (bool, np.bool_)):
        return "bool"
    if issubclass(found, (int, np.integer)):
        return "int"
    return "str" if issubclass(found, str) else None


def _not_labels(name: str, found: object, where: str = "") -> ValueError:
    hint = ""
    if "float" in str(found):
        hint = " Of probabilities or logits take the class, as in scores.argmax(-1); drop or fill missing values (nan)."
    elif str(found) in ("list", "tuple", "ndarray"):
        hint = " Pass a flat list, one label per example."
    return ValueError(f"{name}: found {found}{where}, expected class labels (int, str or bool).{hint}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _some(labels: list[Label]) -> str:
    more = f", ... {len(labels) - 10:,} more" if len(labels) > 10 else ""
    return f"[{', '.join(map(_short, labels[:10]))}{more}]"


def _count(predictions: Any, references: Any) -> Counter[tuple[Label, Label]]:
    """Count the (reference, prediction) pairs of two columns as `_read` returns them."""
    pairs: Counter[tuple[Label, Label]] = Counter()
    if not (isinstance(predictions, np.ndarray) and isinstance(references, np.ndarray)):
        pairs.update(zip(_to_list(references), _to_list(predictions), strict=True))
        return pairs
    start = 0
    while start < len(references):
        stop = start + max(_CHUNK, 16 * len(pairs))  # with many classes merging is what takes time
        pairs.update(_count_arrays(predictions[start:stop], references[start:stop]))
        start = stop
    return pairs


def _to_list(values: Any) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _count_arrays(predictions: np.ndarray, references: np.ndarray) -> dict[tuple[Label, Label], int]:
    prediction_labels, prediction_codes = _encode(predictions)
    reference_labels, reference_codes = _encode(references)
    width = len(prediction_labels)
    cells = reference_codes * width + prediction_codes
    if width * len(reference_labels) <= max(_TABLE, len(cells)):
        counts = np.bincount(cells)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(cells, return_counts=True)
    return {
        (reference_labels[cell // width], prediction_labels[cell % width]): count
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
    }


def _encode(values: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the distinct labels, or a range that covers them, and the position in it of each value."""
    if values.dtype.kind == "U":
        return _encode_text(values)
    if values.dtype.kind == "b":
        return (False, True), values.astype(np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < _CHUNK:
        return range(low, high + 1), np.subtract(values, low, dtype=np.int64)
    labels, codes = np.unique(values, return_inverse=True)
    return labels.tolist(), codes


def _encode_text(values: np.ndarray) -> tuple[Any, np.ndarray]:
    """Encode fixed-width strings through a hash, checked against the strings; a Python str each is slower."""
    words = values.view(np.uint32).reshape(len(values), -1)
    _, codes = np.unique(words @ _HASH[: words.shape[1]], return_inverse=True)
    examples = np.zeros(codes.max() + 1, dtype=np.int64)
    examples[codes] = np.arange(len(codes))
    if not np.array_equal(words[examples][codes], words):  # two labels share a hash
        _, examples, codes = np.unique(values, return_index=True, return_inverse=True)
    return values[examples].tolist(), codes


def _divide(numerator: np.ndarray, denominator: np.ndarray, zero_division: float) -> np.ndarray:
    undefined = denominator == 0
    return np.where(undefined, zero_division, numerator / np.where(undefined, 1, denominator))


def _mean(scores: np.ndarray) -> float:
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if len(defined) else math.nan
