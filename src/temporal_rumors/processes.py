"""Which of several processes this is, as launchers tell: torchrun, `accelerate launch`, Slurm through them."""

from __future__ import annotations

import os


def is_main() -> bool:
    """Whether this process is the one that writes and prints; alone, it is."""
    return os.environ.get("RANK", "0") == "0"
