"""An inflation taken apart: the class mix, each leak, what leaks do for the other protocol, and what remains.

A is what the random folds test, B what another protocol tests. Posts of A are weighted so that classes have the shares
that they have in B: that is the mean over all subsamples with B's class mix, without drawing any. F is macro-F1, F'
the weighted one:

    F(A) - F(B) = [F(A) - F'(A)]                                                  class mix
                + sum over leaks of [F'(A less the leaks before) - F'(A less this one, too)]
                - [F(B) - F'(B less all leaks)]                                   what leaks do for B itself
                + [F'(A less all leaks) - F'(B less all leaks)]                   what remains

"Less" leaves out the test posts that a leak touches. With retraining the test posts stay, and the training posts that
leak go. Fewer training posts alone mean a lower score, so leaky and clean training parts are thinned to one size, class
by class: what leaks explain is the difference of models that were trained on equally many posts. As thinning takes some
posts that leak, too, retraining errs on the low side (by 6% on the generated data of benchmarks/explain.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isclose

import numpy as np

from temporal_rumors.audit.leaks import NAMES, NEWER_TRAINING
from temporal_rumors.audit.scored import Effect, Record, Scorer, Share, Side, Subject, Term
from temporal_rumors.errors import UserError

# A leak that leaves fewer posts of a class than this cannot be taken out.
LEAST_LEFT = 10
# Training parts whose sizes differ by less than this share are of one size.
SAME_SIZE = 0.01
# Nearly all test posts are touched by these under random folds: they are what random folds are, not a leak into them.
SAME_EVENT = "same_event"
WHOLESALE = (SAME_EVENT, NEWER_TRAINING)


@dataclass(frozen=True)
class LeakShare:
    """What one leak explains.

    Attributes:
        name, what: as of `leaks.Leak`.
        posts: test posts of the random folds that it touches; with retraining, the training posts that were taken
            out, summed over the runs.
        alone: how many points go when this leak alone is taken out.
        added: how many go when it is taken out after those before it.
    """

    name: str
    what: str
    posts: int
    alone: Share
    added: Share


@dataclass(frozen=True)
class Decomposition:
    """The parts of an inflation; total = class_mix + sum of leaks.added - own + remains.

    Attributes:
        retrained: leaked training posts were taken out and models fitted anew; otherwise touched test posts were left
            out.
        total: the pooled inflation; the matched one where that is not stated.
        class_mix: the part that goes when classes are given the protocol's shares.
        leaks: in the order of the ledger.
        own: what the same leaks do for the protocol's own score.
        own_posts: as `LeakShare.posts`, of the protocol.
        together: what all leaks explain, less what they do for the protocol.
        remains: none of these leaks explains it: drift, and that other posts are tested, which may be harder.
        fewer: with retraining, what a random fold's score loses by training on so many posts less, in points; no part
            of the sum.
    """

    retrained: bool
    total: float
    class_mix: Share | None
    leaks: list[LeakShare]
    own: Share
    own_posts: int
    together: Share
    remains: Share
    fewer: float | None = None

    def __post_init__(self) -> None:
        parts = (self.class_mix.points if self.class_mix else 0.0) + sum(leak.added.points for leak in self.leaks)
        found = parts - self.own.points + self.remains.points
        assert isclose(found, self.total, abs_tol=1e-8), f"the parts sum to {found}, not to {self.total}"


class Decomposer:
    """Takes apart the inflation of one model over one protocol.

    Args:
        random, side: the runs under random folds and under the protocol.
        scorer: over the classes that the protocol tests.
        weighted: the random folds' score with the protocol's class mix.
        total: the inflation, in points.
        class_mix: what of it goes with the class mix.

    Attributes:
        notes: what could not be done, and why.
    """

    def __init__(
        self,
        subject: Subject,
        random: Side,
        side: Side,
        scorer: Scorer,
        weighted: Term,
        total: float,
        class_mix: Share | None,
    ) -> None:
        self.subject, self.random, self.side, self.scorer = subject, random, side, scorer
        self.weighted, self.plain = weighted, Term(side.scored, np.ones(subject.n_classes))
        self.total, self.class_mix = total, class_mix
        self.wanted = subject.class_counts(side.scored.rows)
        self.leaks = {name: what for name, what in random.leaks.items() if name not in WHOLESALE}
        self.notes: list[str] = []
        if SAME_EVENT in random.leaks:
            self.notes.append("sharing an event with training is what random folds are: it is in what remains")
        if NEWER_TRAINING in random.leaks:
            self.notes.append(
                "training posts newer than the test post are what random folds are: they are in what remains"
            )
        if missing := [name for name in NAMES if name not in random.leaks and name not in WHOLESALE]:
            self.notes.append(f"not looked for, as the data do not tell: {', '.join(missing)}")

    def rescored(self) -> Decomposition:
        """Leave out the test posts that leaks touch."""
        shares, gone, before = [], np.zeros(len(self.subject.posts), dtype=bool), self.weighted
        for name, what in self.leaks.items():
            touched = self.random.touched[name]
            alone, after = self._without(self.weighted, touched), self._without(before, gone | touched)
            n = int(touched.sum())
            if alone is None or after is None:
                self.notes.append(f"{name} touches {n:,} test posts of the random folds: too few are left")
                continue
            effects = self.scorer.share([self.weighted], [alone]), self.scorer.share([before], [after])
            shares.append(LeakShare(name, what, n, *effects))
            gone, before = gone | touched, after
        of_side = np.zeros(len(gone), dtype=bool)
        for share in shares:
            of_side |= self.side.touched[share.name]
        clean = self._without(self.plain, of_side)
        if clean is None:
            self.notes.append(
                f"{of_side.sum():,} test posts of {self.side.group} are touched, and stay: too few would be left"
            )
            of_side[:], clean = False, self.plain
        return Decomposition(
            retrained=False,
            total=self.total,
            class_mix=self.class_mix,
            leaks=shares,
            own=self.scorer.share([self.plain], [clean]),
            own_posts=int(of_side.sum()),
            together=self.scorer.share([self.weighted, clean], [before, self.plain]),
            remains=self.scorer.share([before], [clean]),
        )

    def _without(self, term: Term, gone: np.ndarray) -> Term | None:
        """A score without some posts, with the protocol's class mix; None where too few are left."""
        keep = ~gone[term.scored.rows]
        if keep.all():
            return term
        left = term.scored.only(keep)
        if (self.subject.class_counts(np.unique(left.rows))[self.wanted > 0] < LEAST_LEFT).any():
            return None
        return Term(left, mix(self.subject.class_counts(left.rows), self.wanted))

    def retrained(self) -> Decomposition | None:
        """Fit models anew without the training posts that leak; None where that cannot be done."""
        names = list(self.leaks)
        if not all(self._enough(side, names) for side in (self.random, self.side)):
            self.notes.append(
                f"not retrained: fewer than {LEAST_LEFT} training posts of a class are left without leaks"
            )
            return None
        try:
            chain = [self._thinned(self.random, names[:k], names) for k in range(len(names) + 1)]
            alone = [self._thinned(self.random, [name], names) for name in names]
            own = [self._thinned(self.side, some, names) for some in ([], names)]
        except UserError as error:
            self.notes.append(f"not retrained: {error}")
            return None
        first, last, (leaky, clean) = chain[0], chain[-1], own
        shares = [
            LeakShare(
                name,
                self.leaks[name],
                sum(int(self.random.leaked(record, [name]).sum()) for record in self.random.records),
                self.scorer.share([first], [by_itself]),
                self.scorer.share([before], [after]),
            )
            for name, by_itself, before, after in zip(names, alone, chain[:-1], chain[1:], strict=True)
        ]
        return Decomposition(
            retrained=True,
            total=self.total,
            class_mix=self.class_mix,
            leaks=shares,
            own=self.scorer.share([leaky], [clean]),
            own_posts=sum(int(self.side.leaked(record, names).sum()) for record in self.side.records),
            together=self.scorer.share([first, clean], [last, leaky]),
            remains=self.scorer.share([self.weighted, last, leaky], [self.plain, first, clean]),
            fewer=self.scorer.score(self.weighted) - self.scorer.score(first),
        )

    def _enough(self, side: Side, names: Sequence[str]) -> bool:
        for record in side.records:
            train = self.subject.split(record["protocol"]).train
            left = train[~side.leaked(record, names)[train]]
            held = self.subject.class_counts(train) > 0
            if (self.subject.class_counts(left)[held] < LEAST_LEFT).any():
                return False
        return True

    def _thinned(self, side: Side, gone: Sequence[str], names: Sequence[str]) -> Term:
        """The score of models trained without some leaks, on as many posts of each class as there are without all."""

        def keep(record: Record) -> np.ndarray:
            train = self.subject.split(record["protocol"]).train
            clean = train[~side.leaked(record, names)[train]]
            return self._first(train[~side.leaked(record, gone)[train]], self.subject.class_counts(clean))

        return replace(self.weighted if side is self.random else self.plain, scored=side.refitted(keep))

    def _first(self, rows: np.ndarray, quota: np.ndarray) -> np.ndarray:
        """As many rows of each class as the quota says, the first of a random order; in their own order."""
        labels = self.subject.posts.labels
        by_priority = rows[np.argsort(self.subject.priority[rows])]
        kept = [by_priority[labels[by_priority] == code][:n] for code, n in enumerate(quota.tolist())]
        return np.sort(np.concatenate(kept))

    def equal_training(self) -> Effect | None:
        """The matched inflation of models that are all trained on as many posts as the smallest training part holds."""
        sizes = self.random.train_sizes + self.side.train_sizes
        if not differ(sizes):
            return None

        def keep(record: Record) -> np.ndarray:
            train = self.subject.split(record["protocol"]).train
            # Shares of the classes stay; rounded up, so that none is lost.
            quota = -(-self.subject.class_counts(train) * min(sizes) // len(train))
            return self._first(train, quota)

        try:
            terms = [
                replace(term, scored=side.refitted(keep))
                for term, side in ((self.weighted, self.random), (self.plain, self.side))
            ]
        except UserError as error:
            self.notes.append(f"training parts were not made equal: {error}")
            return None
        return self.scorer.effect(*terms)


def mix(counts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return how much a post of each class counts so that the classes have the wanted shares.

    Args:
        counts: (n_classes,) posts of each class that there are.
        wanted: (n_classes,) posts of each class in the sample that gives the shares.
    """
    return np.divide(wanted, counts, out=np.zeros(len(counts)), where=counts > 0)


def differ(sizes: Iterable[int]) -> bool:
    """Return whether training parts are not of one size.

    Args:
        sizes: of each of them.
    """
    least, *_, most = sorted(sizes)
    return most > least * (1 + SAME_SIZE)
