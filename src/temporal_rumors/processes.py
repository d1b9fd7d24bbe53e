"""Which of several processes this is, as launchers tell: torchrun, `accelerate launch`, Slurm through them."""

from __future__ import annotations

import os
import sys


def is_main() -> bool:
    """Whether this process is the one that writes and prints; alone, it is."""
    return os.environ.get("RANK", "0") == "0"


def finish() -> None:
    """Let processes that talked to one another part, once all have come so far."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.barrier()
        distributed.destroy_process_group()
