"""Signatures: what a score was computed on, on one line, `name:value|name:value`, to be copied beside the score."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from temporal_rumors.errors import UserError, unknown
from temporal_rumors.protocols import GROUPS, group_of
from temporal_rumors.records import json_digest

# Name of each part of the signature of runs -> what it says.
RUN_PARTS = {
    "benchmark": "name@version of the benchmark",
    "task": "its task, where it has several",
    "protocol": "how the posts were split; random and loo: over all folds and events",
    "model": "name@version of the model",
    "settings": "digest of the model's settings",
    "classes": "the classes that macro scores are averaged over",
    "runs": "number of runs that the score is over",
    "seeds": "their seeds",
    "data": "digest of the posts that were read",
    "split": "digest of the ids in each part; several splits: of their digests",
    "coverage": "test posts with a prediction / all test posts",
    "metric": "which score, where the signature is of one",
    "version": "of temporal-rumors",
}
# The same of the answers to RumourEval, which `temporal-rumors score` scores.
SUBMISSION_PARTS = {
    "rumoureval": "the task that was scored",
    "edition": "whose definition of the scores",
    "strict": "whether unknown labels and confidences out of range are refused",
    "missing": "what a reference without an answer is",
    "gold": "digest of the key",
    "submission": "digest of the answers",
    "version": "of temporal-rumors",
}
# The same of a leakage ledger.
LEDGER_PARTS = {
    **{name: RUN_PARTS[name] for name in ("benchmark", "task", "protocol", "classes", "data", "split")},
    "threshold": "how near a copy is",
    "short": "what became of texts too short for the threshold",
    "train": "training posts",
    "test": "test posts",
    "version": "of temporal-rumors",
}
_OPTIONAL: tuple[str, ...] = ("task", "metric")
# A ledger of two data sets of one's own has none of these.
_OPTIONAL_IN_LEDGER: tuple[str, ...] = ("benchmark", "task", "protocol", "classes", "split")
_FORM = "expected name:value|name:value, such as benchmark:pheme_temporal@1.0.0|protocol:chrono|…|version:0.1.0"
_COVERAGE = re.compile(r"(\d{1,18})/(\d{1,18})", re.ASCII)


class Coverage(NamedTuple):
    """How many of the test posts have a prediction.

    Attributes:
        scored: test posts with a prediction.
        in_part: all test posts.
    """

    scored: int
    in_part: int

    @property
    def share(self) -> float:
        """Share of the test posts with a prediction."""
        return self.scored / self.in_part

    def accuracy_bounds(self, accuracy: float) -> tuple[float, float]:
        """Return the accuracy if all posts without a prediction were wrong, and if all were right.

        Args:
            accuracy: over the posts with a prediction, 0 to 1.
        """
        least = accuracy * self.scored / self.in_part
        return least, least + (1 - self.share)


def compose(parts: Mapping[str, Any]) -> str:
    """Write a signature.

    Args:
        parts: name -> value, in the order to be written; names are those of one of the tables above.

    Returns:
        `name:value|name:value`; in values a bar, a percent sign, angle brackets, a back quote, a blank at an end and
        what cannot be printed are percent-encoded.

    Raises:
        UserError: a name that is unknown or missing, or an empty value.
    """
    written = {name: str(value) for name, value in parts.items()}
    _check(written)
    return "|".join(f"{name}:{_encoded(value)}" for name, value in written.items())


def parse(text: str) -> dict[str, str]:
    """Read a signature back.

    Args:
        text: what `compose` has written; blanks around it do not matter.

    Returns:
        Name -> value, in the order of the text.

    Raises:
        UserError: no signature: a part without a name or a value, a name that is unknown, missing or there twice, or
            a coverage that cannot be.
    """
    parts: dict[str, str] = {}
    if not isinstance(text, str):
        raise UserError(f"this is no signature but a {type(text).__name__}: {_FORM}")
    # As it stands on the screen, where its name goes before it.
    for part in text.strip().removeprefix("signature: ").split("|"):
        name, colon, value = part.partition(":")
        if not (name and colon and value):
            raise UserError(f"this is no signature: {part!r} is not name:value; {_FORM}")
        if name in parts:
            raise UserError(f"this is no signature: {name!r} stands in it twice; {_FORM}")
        try:
            parts[name] = unquote(value, errors="surrogatepass")
        except UnicodeDecodeError:
            raise UserError(f"this is no signature: {part!r} holds bytes that are no text; {_FORM}") from None
    _check(parts)
    if "coverage" in parts:
        coverage(parts["coverage"])
    return parts


def coverage(value: str) -> Coverage:
    """Read the coverage of a signature.

    Args:
        value: `scored/in_part`, such as 412/430.

    Raises:
        UserError: it has another form, there are no test posts, or more predictions than test posts.
    """
    if match := _COVERAGE.fullmatch(value):
        found = Coverage(int(match[1]), int(match[2]))
        if found.scored <= found.in_part and found.in_part:
            return found
    raise UserError(
        f"the coverage {value!r} is none: expected test posts with a prediction / all test posts, such as 412/430"
    )


def bounds(
    references: Sequence[int] | np.ndarray, predictions: Sequence[int] | np.ndarray, in_part: Sequence[int]
) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest scores that test posts without a prediction allow.

    These are bounds on what the model would have scored, not an interval: the greatest has all the missing
    predictions right; the least has them all wrong, in the way that costs most.

    Args:
        references: (n,) class indices of the test posts with a prediction.
        predictions: (n,) the class indices predicted.
        in_part: how many posts of each class the test part holds.

    Returns:
        "accuracy" and "f1" (macro-averaged, a class that is nowhere counting 0) -> least and greatest, 0 to 1.

    Raises:
        UserError: unequal lengths, classes out of range, no test posts, or more references of a class than posts.
    """
    true, predicted, size = (np.asarray(values, dtype=np.int64) for values in (references, predictions, in_part))
    codes = np.concatenate([true, predicted])
    if len(true) != len(predicted):
        raise UserError(f"{len(predicted)} predictions for {len(true)} references: one each is needed")
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(size):
        raise UserError(f"classes must be from 0 to {len(size) - 1}, found {codes.min()} to {codes.max()}")
    missing = size - np.bincount(true, minlength=len(size))
    if not size.sum() or missing.min() < 0:
        raise UserError(
            f"the test part has {size.tolist()} posts of each class, the predictions {(size - missing).tolist()}: "
            "a test part has posts, and at most all of them have a prediction"
        )
    hits = np.bincount(true[true == predicted], minlength=len(size))
    totals = size + np.bincount(predicted, minlength=len(size))
    right = Coverage(len(true), int(size.sum()))
    return {
        "accuracy": right.accuracy_bounds(hits.sum() / max(1, len(true))),
        "f1": (_f1(hits, totals + _worst(hits, totals, missing)), _f1(hits + missing, totals + missing)),
    }


def unscored(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how many test posts lack a prediction, and what they leave open; nothing where none does.

    Args:
        records: run records of one model and protocol.

    Returns:
        No sentence or one: the bounds are the means over the runs, as the score is.
    """
    sizes = [[r["split"]["sizes"]["test"][name] for name in r["classes"]] for r in records]
    scored, in_part = sum(len(r["predictions"]["ids"]) for r in records), sum(map(sum, sizes))
    if scored == in_part:
        return []
    found = [
        bounds(r["predictions"]["references"], r["predictions"]["predictions"], size)["f1"]
        for r, size in zip(records, sizes, strict=True)
    ]
    low, high = (100 * sum(ends) / len(found) for ends in zip(*found, strict=True))
    return [
        f"{scored:,} of {in_part:,} test posts have a prediction; with all of them macro-F1 is from {low:.1f} to "
        f"{high:.1f}"
    ]


def meaning(name: str) -> str:
    """Return what a part of a signature says.

    Args:
        name: of the part.

    Raises:
        UserError: no signature has such a part.
    """
    known = RUN_PARTS | SUBMISSION_PARTS | LEDGER_PARTS
    if name not in known:
        raise UserError(unknown("part of a signature", name, known))
    return known[name]


def variant(record: Mapping[str, Any]) -> str:
    """Return a digest (hexadecimal) of what makes a model another variant of itself; a mean is over runs of one."""
    identity = ("settings", "model_version", "classes", "data_digest", "benchmark_version")
    return json_digest([record[name] for name in identity])


def ordered(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return run records, each once, in the order of benchmark, task, model, variant, protocol and seed."""
    return sorted({record["key"]: record for record in records}.values(), key=_order)


def by_variant(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
    """Return name of each variant of a model -> group of protocols -> its runs.

    Args:
        records: run records of one benchmark and task, in the order of `ordered`.

    Returns:
        In the same order; a name is that of `variant_name` where several variants of a model were run.
    """
    variants = [list(found) for _, found in groupby(records, key=lambda r: (r["model"], variant(r)))]
    models = [runs[0]["model"] for runs in variants]
    found = {}
    for model, runs in zip(models, variants, strict=True):
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for record in runs:
            groups.setdefault(group_of(record["protocol"]), []).append(record)
        found[model if models.count(model) == 1 else variant_name(runs[0])] = groups
    return found


def variant_name(record: Mapping[str, Any]) -> str:
    """Return what tells a variant of a model from others: the model, @ and six hexadecimal digits."""
    return f"{record['model']}@{variant(record)[:6]}"


def _order(record: Mapping[str, Any]) -> tuple[Any, ...]:
    protocol = record["protocol"]
    place = GROUPS.index(group_of(protocol)), protocol, record["seed"], record["key"]
    return record["benchmark"], record["task"] or "", record["model"], variant(record), *place


def of_runs(records: Sequence[Mapping[str, Any]], protocol: str, metric: str | None = None) -> dict[str, Any]:
    """Return the parts of the signature of a score over run records of one model and protocol.

    Args:
        records: the run records.
        protocol: what to call the protocol: the folds together are `random`, the events `loo`.
        metric: name of the score, where the signature is of one.
    """
    first = records[0]
    scored = sum(len(r["predictions"]["ids"]) for r in records)
    in_test = sum(sum(r["split"]["sizes"]["test"].values()) for r in records)
    splits = {r["protocol"]: r["split_digest"] for r in records}
    return {
        "benchmark": f"{first['benchmark']}@{first['benchmark_version']}",
        **({"task": first["task"]} if first["task"] else {}),
        "protocol": protocol,
        "model": f"{first['model']}@{first['model_version']}",
        "settings": json_digest(first["settings"])[:8],
        "classes": ",".join(first["classes"]),
        "runs": len(records),
        "seeds": ",".join(str(seed) for seed in sorted({r["seed"] for r in records})),
        "data": first["data_digest"][:8],
        # Several splits are named by one digest of theirs.
        "split": (next(iter(splits.values())) if len(splits) == 1 else json_digest(splits))[:8],
        "coverage": f"{scored}/{in_test}",
        **({"metric": metric} if metric else {}),
        "version": ",".join(sorted({r["versions"].get("temporal-rumors", "unknown") for r in records})),
    }


def _check(parts: Mapping[str, str]) -> None:
    known, optional = RUN_PARTS, _OPTIONAL
    if "rumoureval" in parts:
        known = SUBMISSION_PARTS
    elif "threshold" in parts:
        known, optional = LEDGER_PARTS, _OPTIONAL_IN_LEDGER
    for name, value in parts.items():
        if name not in known:
            raise UserError(f"this is no signature: {unknown('name', name, known)}")
        if not value:
            raise UserError(f"this is no signature: {name!r} has no value; {_FORM}")
    if lacking := [name for name in known if name not in parts and name not in optional]:
        raise UserError(f"this is no whole signature: it lacks {', '.join(lacking)}; was it cut off? {_FORM}")


def _encoded(value: str) -> str:
    # A blank at an end would be taken for one around the signature.
    ends = 0, len(value) - 1
    return "".join(
        c if c.isprintable() and c not in "|%<>`" and not (c == " " and i in ends) else quote(c, errors="surrogatepass")
        for i, c in enumerate(value)
    )


def _f1(hits: np.ndarray, totals: np.ndarray) -> float:
    """Macro-F1; totals are how often a class is in the references and in the predictions together."""
    return float((2 * hits / np.maximum(1, totals)).mean())


def _worst(hits: np.ndarray, totals: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """How often each class is predicted where all the missing predictions are wrong and macro-F1 is least.

    An F1 falls the less, the more often its class was predicted, so the next prediction best goes where it costs most.
    A class cannot be predicted wrongly for its own posts; as long as it takes no more than those of the others, each
    missing post finds a wrong class.
    """
    added, left = np.zeros_like(totals), missing.sum() - missing
    loss = [(float(2 * h / t - 2 * h / (t + 1)) if t else 0.0) for h, t in zip(hits, totals, strict=True)]
    heap = [(-loss[c], c) for c in range(len(totals)) if left[c]]
    heapq.heapify(heap)
    for _ in range(int(missing.sum())):
        _, c = heapq.heappop(heap)
        added[c] += 1
        if added[c] < left[c]:
            total = totals[c] + added[c]
            heapq.heappush(heap, (-float(2 * hits[c] / total - 2 * hits[c] / (total + 1)), c))
    return added
