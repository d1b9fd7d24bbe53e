"""What leaks from training to test posts: the join of near copies, and the ledger of all leaks."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from temporal_rumors.audit.ledger import audit_benchmark, audit_splits
    from temporal_rumors.audit.neighbours import near_duplicates

__all__ = ["audit_benchmark", "audit_splits", "near_duplicates"]

_HOMES = {"audit_benchmark": "ledger", "audit_splits": "ledger", "near_duplicates": "neighbours"}


def __getattr__(name: str) -> _Any:
    if name in _HOMES:
        return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
