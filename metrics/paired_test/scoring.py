"""Two systems on one test set: McNemar's test, approximate randomisation and a cluster bootstrap of macro-F1."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

Label = int | str | bool

_CELLS = 1 << 20  # numbers in a working array, so that memory does not grow with the number of resamples
_ENUMERATED = 1 << 17  # up to this many different outcomes of the swaps, all are gone through
_TIE = 1e-12  # differences of macro-F1 this close are equal but for rounding


def paired_test(
    *,
    predictions1: Any,
    predictions2: Any,
    references: Any,
    groups: Any = None,
    labels: Any = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    n_swaps: int = 10_000,
    seed: int = 0,
) -> dict[str, Any]:
    """Compare the predicted labels of two systems on one test set.

    Args:
        predictions1: n labels that system 1 predicts, all int, all str or all bool: a list, tuple, numpy array, pandas
            Series, Arrow array, tensor or dataset column.
        predictions2: n labels that system 2 predicts, of the same kind.
        references: n true labels of the same kind.
        groups: the group of each example, such as its thread, event or cluster of near copies, all int or all str.
            Examples of one group are drawn and swapped together. By default each is its own.
        labels: the classes that macro-F1 is averaged over; by default all that occur in any of the three.
        level: share of such intervals that are to hold the true difference.
        n_resamples: number of bootstrap samples.
        n_swaps: number of random swaps, where not all ways to swap are gone through.
        seed: of the random numbers.

    Returns:
        dict: "accuracy1", "accuracy2", "accuracy_difference"; "macro_f1_1", "macro_f1_2", "macro_f1_difference", each
        difference that of system 1 minus that of system 2; "interval", [low, high] of the difference of macro-F1, and
        its "level"; "mcnemar_p" for equal accuracy; "randomisation_p" for equal macro-F1; "n_examples", "n_groups",
        "n_disagreements" (differing predictions), "n_only_1_right", "n_only_2_right"; "labels".

    Raises:
        ValueError: inputs that are empty, of unequal length, or anything but labels of one kind; a label that `labels`
            does not list; fewer than two groups; an option out of range.

    Source: McNemar 1947; Noreen 1989; Hesterberg 2015, as the functions of this module say.
    """
    given = {"references": references, "predictions1": predictions1, "predictions2": predictions2}
    columns = {name: read_labels(values, name) for name, values in given.items()}
    kinds: dict[str | None, tuple[str, list[Label]]] = {}
    for name, (kind, values) in columns.items():
        if values:
            kinds.setdefault(kind, (name, values))
        if len(values) != len(columns["references"][1]):
            raise ValueError(
                f"{len(values):,} {name} for {len(columns['references'][1]):,} references: pass one for each."
            )
    if not kinds:
        raise ValueError("no predictions and references: there is nothing to compare.")
    if len(kinds) > 1:
        found = " and ".join(
            f"{name} are {kind} ({_short(values[0])} comes first)" for kind, (name, values) in kinds.items()
        )
        raise ValueError(f"{found}: use one kind of label.")
    classes = sorted({label for _, values in columns.values() for label in values})
    if labels is not None:
        kind, listed = read_labels(labels, "labels")
        distinct = set(listed)
        if len(distinct) < len(listed):
            raise ValueError("labels lists a class more than once.")
        unlisted = [label for label in classes if label not in distinct] if kind in kinds else classes
        if unlisted:
            raise ValueError(f"labels does not list {unlisted[0]!r}, which occurs: list every class that does.")
        classes = listed
    code = {label: number for number, label in enumerate(classes)}
    truth, first, second = (np.array([code[label] for label in values]) for _, values in columns.values())
    if groups is not None:
        numbers: dict[Label, int] = {}
        groups = np.array([numbers.setdefault(group, len(numbers)) for group in read_labels(groups, "groups")[1]])

    sides = Answers(truth, first, groups), Answers(truth, second, groups)
    difference = bootstrap_difference(*sides, len(classes), level=level, n_resamples=n_resamples, seed=seed)
    right = first == truth, second == truth
    return {
        "accuracy1": float(right[0].mean()),
        "accuracy2": float(right[1].mean()),
        "accuracy_difference": float((right[0].sum() - right[1].sum()) / len(truth)),
        "macro_f1_1": macro_f1(truth, first, len(classes)),
        "macro_f1_2": macro_f1(truth, second, len(classes)),
        "macro_f1_difference": difference.estimate,
        "interval": [difference.low, difference.high],
        "level": difference.level,
        "mcnemar_p": mcnemar_exact(*right),
        "randomisation_p": approximate_randomisation(
            truth, first, second, len(classes), groups, n_swaps=n_swaps, seed=seed
        ),
        "n_examples": len(truth),
        "n_groups": difference.n_groups,
        "n_disagreements": int((first != second).sum()),
        "n_only_1_right": int((right[0] & ~right[1]).sum()),
        "n_only_2_right": int((right[1] & ~right[0]).sum()),
        "labels": classes,
    }


class Answers(NamedTuple):
    """The answers of one system on its test posts, in codes; all arrays but class_weights are (n,) int and aligned.

    Attributes:
        references: true classes, from 0 on.
        predictions: predicted classes, from 0 on.
        groups: the cluster of each post, any integers. Posts of one cluster are drawn together; in two Answers the
            same integer means the same cluster. None: each post is its own, the same positions in two Answers being
            the same posts.
        parts: the test set of each post, such as its fold, any integers: the score is the mean over them. None: there
            is one.
        class_weights: (n_classes,) float64, how much a post of each class counts, such as to give test sets the same
            mix of classes. None: each counts 1.
    """

    references: np.ndarray
    predictions: np.ndarray
    groups: np.ndarray | None = None
    parts: np.ndarray | None = None
    class_weights: np.ndarray | None = None


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes:
        estimate: the score, or the difference of scores, of all the posts.
        low: lower bound.
        high: upper bound.
        level: share of such intervals that are to hold the truth.
        n_groups: number of clusters that were resampled.
    """

    estimate: float
    low: float
    high: float
    level: float
    n_groups: int


def macro_f1(
    references: np.ndarray, predictions: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> float:
    """Return the mean F1 of the classes 0 to n_classes - 1; a class that is nowhere counts as 0.

    Args:
        references: (n,) int true classes.
        predictions: (n,) int predicted classes.
        n_classes: number of classes that are averaged over.
        weights: (n,) float, how much each post counts; by default 1.

    Returns:
        The score, 0 to 1; the same as that of `macro_prf` with `labels=range(n_classes)`.

    Raises:
        ValueError: no posts, unequal lengths, classes out of range, weights that are negative or not finite.
    """
    references, predictions = _codes(n_classes, references=references, predictions=predictions)
    if weights is not None:
        weights = _weights(weights, len(references), "weights")
    return float(_macro_f1(_class_totals(references, predictions, n_classes, weights)))


def bootstrap_score(
    answers: Answers, n_classes: int, *, n_resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return a confidence interval of one system's macro-F1; all else is as in `bootstrap_difference`."""
    return _bootstrap([answers], n_classes, n_resamples, level, seed)


def bootstrap_difference(
    first: Answers, second: Answers, n_classes: int, *, n_resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return a confidence interval of the difference of two macro-F1, first minus second, by resampling clusters.

    A cluster that is in both is drawn for both: two systems on the same posts are compared pairwise, and test sets
    that share posts or clusters are not taken for independent. Neither the order of the posts nor the numbers of the
    clusters matter. The percentiles lie further out than the level says, the more so the fewer clusters there are or
    the more a few of them weigh: the plain ones hold the truth too seldom.

    Args:
        first: answers of one system.
        second: answers of the other, on the same or on other posts.
        n_classes: number of classes that macro-F1 is averaged over.
        n_resamples: number of bootstrap samples.
        level: share of such intervals that are to hold the truth, above 0 and below 1.
        seed: of the resampling.

    Returns:
        The interval; macro-F1 is from 0 to 1.

    Raises:
        ValueError: no posts, unequal lengths, classes out of range, fewer than two clusters, an option out of range.

    Source: Hesterberg 2015, "What Teachers Should Know About the Bootstrap", the expanded percentile interval; its
    degrees of freedom after Satterthwaite 1946.
    """
    return _bootstrap([first, second], n_classes, n_resamples, level, seed)


def approximate_randomisation(
    references: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    n_classes: int,
    groups: np.ndarray | None = None,
    *,
    n_swaps: int = 10_000,
    seed: int = 0,
) -> float:
    """Test whether two systems have the same macro-F1, by swapping their answers at random, cluster by cluster.

    Exact, over all the ways to swap, where these have few different outcomes.

    Args:
        references: (n,) int true classes.
        first: (n,) int predictions of one system.
        second: (n,) int predictions of the other.
        n_classes: number of classes that macro-F1 is averaged over.
        groups: (n,) int cluster of each post, whose answers are swapped together; by default each post is its own.
        n_swaps: number of random swaps, where not all are gone through.
        seed: of the random swaps.

    Returns:
        Two-sided p: the share of swaps whose difference is at least as large as that found; 1 for identical systems.

    Raises:
        ValueError: no posts, unequal lengths, classes out of range, an option out of range.

    Source: Noreen 1989; Yeh 2000. That what was found counts as a swap, too: Phipson and Smyth 2010.
    """
    _check_integer("n_swaps", n_swaps, 1)
    _check_integer("seed", seed, 0)
    references, first, second = _codes(n_classes, references=references, first=first, second=second)
    n = len(references)
    groups = np.arange(n) if groups is None else _integers(groups, n, "groups")
    _, clusters = np.unique(groups, return_inverse=True)
    # Per cluster, what its swap adds to the first system's hits and sizes, and takes from the second's.
    change = _by_cluster(clusters, references, second, n_classes) - _by_cluster(clusters, references, first, n_classes)
    change.eliminate_zeros()
    kinds, counts = _distinct(change[np.diff(change.indptr) > 0])
    if len(counts) == 0:
        return 1.0
    totals = [_class_totals(references, predictions, n_classes) for predictions in (first, second)]

    def differences(swapped: np.ndarray) -> np.ndarray:
        """Return the difference for each row of numbers of swapped clusters of each kind."""
        moved = swapped.astype(np.float64) @ kinds
        return np.abs(_macro_f1(totals[0] + moved) - _macro_f1(totals[1] - moved))

    found = differences(np.zeros((1, len(counts))))[0] - _TIE
    n_swapped = int(counts.sum())
    if np.log(counts + 1).sum() <= np.log(_ENUMERATED):
        return _exact(differences, found, counts, max(1, _CELLS // (2 * n_classes)))
    size = max(1, _CELLS // max(2 * n_classes, n_swapped))
    draws = np.random.PCG64(seed)
    n_large = 0
    for start in range(0, n_swaps, size):
        rows = min(size, n_swaps - start)
        raw = draws.random_raw(rows * -(-n_swapped // 64)).astype("<u8").reshape(rows, -1)
        bits = np.unpackbits(raw.view(np.uint8), axis=1, count=n_swapped)
        swapped = np.add.reduceat(bits, np.cumsum(counts) - counts, axis=1, dtype=np.int64)
        n_large += int((differences(swapped) >= found).sum())
    return (1 + n_large) / (1 + n_swaps)


def mcnemar_exact(first_right: np.ndarray, second_right: np.ndarray) -> float:
    """Test whether two systems are right equally often, by the binomial test of which one is where only one is.

    Args:
        first_right: (n,) bool, whether one system is right on each post.
        second_right: (n,) bool, whether the other is.

    Returns:
        Two-sided exact p; 1 where the two are right on the same posts.

    Raises:
        ValueError: no posts, unequal lengths, anything but bool.

    Source: McNemar 1947, with the binomial distribution for its approximation.
    """
    sides = {"first_right": np.asarray(first_right), "second_right": np.asarray(second_right)}
    for name, right in sides.items():
        if right.ndim != 1 or (right.dtype != np.bool_ and len(right)):
            raise ValueError(f"{name}: found {right.dtype} of shape {right.shape}, expected (n,) bool.")
    first, second = sides.values()
    if len(first) != len(second):
        raise ValueError(f"first_right has {len(first):,} posts, second_right {len(second):,}: pass one for each.")
    if len(first) == 0:
        raise ValueError("no posts: there is nothing to test.")
    n_only_first, n_only_second = int((first > second).sum()), int((second > first).sum())
    tail = float(special.bdtr(min(n_only_first, n_only_second), n_only_first + n_only_second, 0.5))
    return min(1.0, 2 * tail)  # both tails are alike


def read_labels(values: Any, name: str) -> tuple[str | None, list[Label]]:
    """Return the kind of labels ("int", "str" or "bool"; None if there are none) and the labels as a list of these.

    Raises:
        ValueError: anything but a column of labels of one kind.
    """
    if values is None:
        raise ValueError(f"{name} are missing: pass predictions1, predictions2 and references.")
    if type(values).__module__.startswith("datasets."):
        values = values[:]  # a lazy column would be read row by row
    for method in ("to_pylist", "tolist"):
        if hasattr(values, method):
            values = getattr(values, method)()
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"{name}: found {type(values).__name__}, expected a list, tuple, array, Series or column.")
    kinds = {found: _plain(found) for found in set(map(type, values))}
    places: dict[type | None, int] = {}
    for position, value in enumerate(values):
        places.setdefault(kinds[type(value)], position)
    if None in places:
        value = values[places[None]]
        raise ValueError(
            f"{name}: found {type(value).__name__} ({_short(value)} at position {places[None]:,}), expected class "
            "labels (int, str or bool)."
        )
    found = {kind: at for kind, at in places.items() if kind is not None}
    if len(found) > 1:
        mixed = " and ".join(f"{kind.__name__} ({_short(values[at])} at position {at:,})" for kind, at in found.items())
        raise ValueError(f"{name}: found {mixed}, expected one kind of label.")
    if not found:
        return None, []
    (kind,) = found
    # str() of an Enum's member is its name, str.__str__() its value
    convert = str.__str__ if kind is str else kind
    return kind.__name__, [convert(value) for value in values]


def _plain(found: type) -> type | None:
    if issubclass(found, (bool, np.bool_)):
        return bool
    if issubclass(found, (int, np.integer)):
        return int
    return str if issubclass(found, str) else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _bootstrap(sides: Sequence[Answers], n_classes: int, n_resamples: int, level: float, seed: int) -> Interval:
    _check_integer("n_resamples", n_resamples, 1)
    _check_integer("seed", seed, 0)
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}: expected a share above 0 and below 1.")
    tables, counts = _by_kind(sides, n_classes)
    n_groups = int(counts.sum())
    if n_groups < 2:
        raise ValueError("all posts are in one cluster: an interval takes at least two.")

    def differences(times: np.ndarray) -> np.ndarray:
        """Return the difference for each row of how often the clusters of each kind are drawn."""
        first, *second = (_macro_f1(times @ table) for table in tables)
        return first - second[0] if second else first

    kind_of = np.repeat(np.arange(len(counts)), counts)
    draws = np.random.PCG64(seed)
    size = max(1, _CELLS // max(n_groups, *(table.shape[1] for table in tables)))
    found = []
    for start in range(0, n_resamples, size):
        rows = min(size, n_resamples - start)
        # Of numpy's random numbers only the raw ones are the same in every release; the upper half of each, scaled.
        drawn = (draws.random_raw(rows * n_groups) >> np.uint64(32)) * np.uint64(n_groups) >> np.uint64(32)
        cells = kind_of[drawn.astype(np.int64)].reshape(rows, -1) + np.arange(rows)[:, None] * len(counts)
        times = np.bincount(cells.ravel(), minlength=rows * len(counts)).reshape(rows, -1)
        found.append(differences(times.astype(np.float64)))
    share = _tail(_influences(tables, counts), counts, level)
    low, high = np.quantile(np.concatenate(found), [share, 1 - share])
    estimate = differences(counts[None].astype(np.float64))[0]
    return Interval(float(estimate), float(low), float(high), float(level), n_groups)


def _tail(influences: np.ndarray, counts: np.ndarray, level: float) -> float:
    """Return the share of resamples to leave out at each end.

    Clusters that are few, or of which a few weigh most, tell little of how much they vary. So the normal distribution
    gives way to Student's t, whose degrees of freedom are those of the variance: 3 (sum d^2)^2 / sum d^4 is the number
    of clusters whose influences d are normal, and smaller the fewer of them make up the sum.
    """
    n = counts.sum()
    second, fourth = ((counts * influences**power).sum() for power in (2, 4))
    effective = min(n, 3 * second**2 / fourth) if fourth > 0 else n
    # n / (n - 1): a resample varies as if the sample were all there is.
    share = special.ndtr(special.stdtrit(max(1, effective - 1), (1 - level) / 2) * np.sqrt(n / (n - 1)))
    return round(float(share), 7)  # beyond that, releases of scipy differ


def _influences(tables: Sequence[sparse.csr_array], counts: np.ndarray) -> np.ndarray:
    """Return the derivative of the difference of macro-F1 by the weight of a cluster of each kind."""
    influences = np.zeros(len(counts))
    for sign, table in zip((1, -1), tables, strict=False):
        hits, sizes = np.split(counts @ table, 2)
        sizes = np.where(sizes == 0, 1, sizes)
        influences += sign * (table @ np.concatenate([2 / sizes, -2 * hits / sizes**2])) / len(hits)
    return influences


def _by_kind(sides: Sequence[Answers], n_classes: int) -> tuple[list[sparse.csr_array], np.ndarray]:
    """Return what a cluster of each kind adds to each side's class totals, and how many clusters of each there are.

    Clusters are of one kind that have as many answers of each side, part, reference and prediction. The scores depend
    on nothing else, so a resample is a product of matrices, however many posts there are.
    """
    answers, clusters = [], []
    for number, side in enumerate(sides):
        references, predictions = _codes(n_classes, references=side.references, predictions=side.predictions)
        n = len(references)
        parts = np.zeros(n, dtype=np.int64) if side.parts is None else _integers(side.parts, n, "parts")
        _, parts = np.unique(parts, return_inverse=True)
        answers.append(np.stack([np.full(n, number), parts, references, predictions]))
        clusters.append(np.arange(n) if side.groups is None else _integers(side.groups, n, "groups"))
    rows = np.concatenate(answers, axis=1)
    shape = tuple(rows.max(axis=1) + 1)
    cells, cell_of = np.unique(np.ravel_multi_index(tuple(rows), shape), return_inverse=True)
    _, cluster_of = np.unique(np.concatenate(clusters), return_inverse=True)
    kinds, counts = _distinct(sparse.csr_array((np.ones(len(cell_of), dtype=np.int64), (cluster_of, cell_of))))

    tables = []
    number_of, *names = np.unravel_index(cells, shape)
    for number, side in enumerate(sides):
        here = np.flatnonzero(number_of == number)
        part, reference, prediction = (name[here] for name in names)
        weights = np.ones(n_classes)
        if side.class_weights is not None:
            weights = _weights(side.class_weights, n_classes, "class_weights")
        hit = reference == prediction
        width = (part.max() + 1) * n_classes
        start, weight = part * n_classes, weights[reference]
        values = np.concatenate([weight[hit], weight, weight])
        columns = np.concatenate([(start + reference)[hit], width + start + reference, width + start + prediction])
        of_cell = sparse.csr_array(
            (values, (np.concatenate([here[hit], here, here]), columns)), (len(cells), 2 * width)
        )
        tables.append(kinds @ of_cell)
    return tables, counts


def _distinct(table: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the distinct rows of a table of integers, in an order of their own, and how often each is there.

    Rows are told apart by their sums of 64-bit random numbers; two that differ have the same with a chance of 2**-64.
    """
    hashes = np.random.PCG64(0).random_raw(table.shape[1])
    _, first, counts = np.unique(table.astype(np.uint64) @ hashes, return_index=True, return_counts=True)
    return table[first].astype(np.float64), counts


def _exact(differences: Callable[[np.ndarray], np.ndarray], found: float, counts: np.ndarray, size: int) -> float:
    """Return the chance of a difference of at least `found`, where each of `counts` clusters is swapped or not."""
    n_outcomes = int(np.prod(counts + 1))
    chances, large = [], []
    for start in range(0, n_outcomes, size):
        outcomes = np.arange(start, min(start + size, n_outcomes))
        swapped = np.stack(np.unravel_index(outcomes, tuple(counts + 1)), axis=1)
        ways = special.gammaln(counts + 1) - special.gammaln(swapped + 1) - special.gammaln(counts - swapped + 1)
        chances.append(np.exp(ways.sum(axis=1) - counts.sum() * np.log(2)))
        large.append(differences(swapped) >= found)
    chance = np.concatenate(chances)
    return float(chance[np.concatenate(large)].sum() / chance.sum())


def _by_cluster(
    clusters: np.ndarray, references: np.ndarray, predictions: np.ndarray, n_classes: int
) -> sparse.csr_array:
    """Return (n_clusters, 2 * n_classes): for each class the hits, then the predictions."""
    hit = references == predictions
    rows = np.concatenate([clusters[hit], clusters])
    columns = np.concatenate([references[hit], n_classes + predictions])
    shape = (clusters.max() + 1, 2 * n_classes)
    return sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape)


def _class_totals(
    references: np.ndarray, predictions: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return (2 * n_classes,): for each class the hits; then the references and predictions together."""
    hit = references == predictions
    hits = np.bincount(references[hit], None if weights is None else weights[hit], n_classes)
    sizes = np.bincount(references, weights, n_classes) + np.bincount(predictions, weights, n_classes)
    return np.concatenate([hits, sizes]).astype(np.float64)


def _macro_f1(class_totals: np.ndarray) -> np.ndarray:
    hits, sizes = np.split(class_totals, 2, axis=-1)
    return (2 * hits / np.where(sizes == 0, 1, sizes)).mean(axis=-1)


def _codes(n_classes: int, **columns: Any) -> list[np.ndarray]:
    n = len(next(iter(columns.values())))
    found = [_integers(values, n, name) for name, values in columns.items()]
    if n == 0:
        raise ValueError("no posts: there is nothing to score.")
    for name, codes in zip(columns, found, strict=True):
        if codes.min() < 0 or codes.max() >= n_classes:
            raise ValueError(f"{name}: found classes {codes.min()} to {codes.max()}, expected 0 to {n_classes - 1}.")
    return found


def _integers(values: Any, n: int, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise ValueError(f"{name}: found {array.dtype} of shape {array.shape}, expected (n,) integers.")
    if len(array) != n:
        raise ValueError(f"{name}: found {len(array):,}, expected {n:,}, one for each post.")
    return array.astype(np.int64)


def _weights(values: Any, n: int, name: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise ValueError(f"{name}: found shape {array.shape}, expected ({n},).")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name}: found a negative number, NaN or infinity, expected finite numbers from 0 on.")
    return array


def _check_integer(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}: expected an integer from {least} on.")
