"""Honest evaluation of rumour detectors.

Importing this package registers its benchmarks with `datasets.load_dataset` and its metrics with `evaluate.load`,
and loads neither library.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from temporal_rumors import plugin as _plugin
from temporal_rumors._version import __version__

if _TYPE_CHECKING:
    from temporal_rumors import audit as audit
    from temporal_rumors.frames import split
    from temporal_rumors.metrics.leakage.scoring import leakage
    from temporal_rumors.metrics.macro_prf.scoring import macro_prf
    from temporal_rumors.metrics.paired_test.scoring import paired_test
    from temporal_rumors.metrics.rumoureval.scoring import rumoureval

__all__ = ["__version__", "leakage", "macro_prf", "paired_test", "rumoureval", "split"]


def __getattr__(name: str) -> _Any:
    if name == "audit":
        return _import_module("temporal_rumors.audit")
    if name == "split":
        return _import_module("temporal_rumors.frames").split
    # Each metric has its scores as a plain function of its own name.
    if name in _plugin.metric_names():
        return getattr(_import_module(f"{_plugin.METRICS_PACKAGE}.{name}.scoring"), name)
    raise AttributeError(f"module 'temporal_rumors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "audit", "split", *_plugin.metric_names()})


_plugin.register()
