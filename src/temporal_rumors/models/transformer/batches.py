"""Which posts are read together: batches of like lengths, the same ones whatever the number of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

# By how much of its length a post may stand out of order, so that batches are not the same ones every epoch.
_SHUFFLE = 0.15


@dataclass
class TrainingBatches:
    """The batches of each epoch, of which a process takes its slices; a batch sampler of torch.

    Every post is in one batch an epoch. Batches are as large as asked for, or one post smaller where posts cannot be
    dealt evenly, so that no process is ever left without one.

    Args:
        lengths: (n,) int64, tokens of each post.
        size: posts of a batch over all processes.
        seed: of the order; each epoch has its own.
        grouped: put posts of like lengths together.
        rank, world: which process this is, and how many there are.
        accumulate: into how many steps a process cuts its slice.
    """

    lengths: np.ndarray
    size: int
    seed: int
    grouped: bool
    rank: int = 0
    world: int = 1
    accumulate: int = 1
    epoch: int = 0

    def whole(self) -> list[np.ndarray]:
        """Return the batches of the epoch over all processes."""
        n = len(self.lengths)
        # Raw bits are the same in every release of numpy.
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, self.epoch])).random_raw(3 * n)
        order = np.argsort(bits[:n], kind="stable")
        n_batches = -(-n // self.size)
        if self.grouped:
            noise = 1 + _SHUFFLE * (bits[n : 2 * n] / 2.0**64 - 0.5)
            order = order[np.argsort((self.lengths * noise)[order], kind="stable")]
        batches = np.array_split(order, n_batches)
        return [batches[i] for i in np.argsort(bits[2 * n : 2 * n + n_batches], kind="stable")]

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self.whole():
            for part in range(self.accumulate):
                yield batch[part * self.world + self.rank :: self.world * self.accumulate].tolist()

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.size) * self.accumulate

    @property
    def smallest(self) -> int:
        """Posts of the smallest batch over all processes."""
        return len(self.lengths) // -(-len(self.lengths) // self.size)


def scoring_batches(lengths: np.ndarray, size: int) -> Sequence[np.ndarray]:
    """Return the batches in which posts are scored, the longest first: what does not fit into memory fails at once.

    Args:
        lengths: (n,) int64, tokens of each post.
        size: posts of a batch.
    """
    order = np.argsort(-lengths, kind="stable")
    return np.split(order, range(size, len(order), size)) if len(order) else []
