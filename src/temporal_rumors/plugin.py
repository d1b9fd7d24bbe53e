"""Teach `datasets.load_dataset` and `evaluate.load` our names, without importing either before its time."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from temporal_rumors.errors import nearest, unknown

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

METRICS_PACKAGE = "temporal_rumors.metrics"
_SUFFIX = "_temporal"
_OURS = "_of_temporal_rumors"


def register() -> None:
    """Patch the two libraries now where they are imported, else as soon as they are. Calling it again does nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name, patch in _PATCHES.items():
        if sys.modules.get(name):
            # Not taken from sys.modules: where another thread is still importing it, this waits.
            patch(importlib.import_module(name))


class _Finder:
    """Finds nothing itself: lets the others find the modules in _PATCHES, and has these patched once they have run."""

    def __init__(self) -> None:
        self._local = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Another finder may ask all of sys.meta_path in its turn.
        if fullname not in _PATCHES or getattr(self._local, "busy", False):
            return None
        self._local.busy = True
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                if find and (spec := find(fullname, path, target)):
                    spec.loader = _Loader(spec.loader, _PATCHES[fullname])
                    return spec
        finally:
            self._local.busy = False
        return None


class _Loader:
    """A module's own loader, which also patches the module once it has run."""

    def __init__(self, loader: Any, patch: Callable[[ModuleType], None]) -> None:
        self._loader, self._patch = loader, patch

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._patch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _patch_datasets(module: ModuleType) -> None:
    factory, module_class = _insides(module, "dataset_module_factory", "DatasetModule")
    if getattr(factory, _OURS, False):
        return
    if not _takes(factory, "path") or not _takes(module_class, "module_path", "hash", "builder_kwargs"):
        _incompatible(
            "datasets",
            "build the benchmarks directly, for example `from temporal_rumors.dataset_scripts.pheme_temporal.builder "
            'import PhemeTemporal; b = PhemeTemporal(config_name="chrono"); b.download_and_prepare(); b.as_dataset()`',
        )
        return

    @functools.wraps(factory)
    def dataset_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        from datasets.exceptions import DatasetNotFoundError

        from temporal_rumors import benchmark

        known = benchmark.names()
        if path in known:
            # Made anew at each call: load_dataset empties builder_kwargs.
            return module_class(f"{benchmark.PACKAGE}.{path}.builder", "", {})
        if _is_bare(path) and path.endswith(_SUFFIX) and not os.path.exists(path):
            raise DatasetNotFoundError(unknown("benchmark", path, known))
        try:
            return factory(path, *args, **kwargs)
        except Exception as error:
            if _is_bare(path) and nearest(path, known):
                raise DatasetNotFoundError(unknown("benchmark", path, known)) from error
            raise

    _replace(factory, dataset_module_factory, ("datasets.load", "datasets.inspect"))


def _patch_evaluate(module: ModuleType) -> None:
    factory, module_class = _insides(module, "evaluation_module_factory", "ImportableModule")
    if getattr(factory, _OURS, False):
        return
    if not _takes(factory, "path") or not _takes(module_class, "module_path", "hash"):
        _incompatible(
            "evaluate",
            "use the functions directly, for example `temporal_rumors.macro_prf(predictions=…, references=…)`",
        )
        return

    @functools.wraps(factory)
    def evaluation_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        known = metric_names()
        if path in known:
            return module_class(f"{METRICS_PACKAGE}.{path}.{path}", "")
        try:
            return factory(path, *args, **kwargs)
        except Exception as error:
            if _is_bare(path) and nearest(path, known):
                raise FileNotFoundError(unknown("metric", path, known)) from error
            raise

    _replace(
        factory,
        evaluation_module_factory,
        ("evaluate.loading", "evaluate.inspect", "evaluate.evaluation_suite"),
    )


def metric_names() -> list[str]:
    """Return the names of our `evaluate` modules, those of the folders under metrics/."""
    from pathlib import Path

    root = Path(importlib.import_module(METRICS_PACKAGE).__path__[0])
    return sorted(p.name for p in root.iterdir() if (p / f"{p.name}.py").is_file())


_PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "datasets.load": _patch_datasets,
    "evaluate.loading": _patch_evaluate,
}


def _insides(module: ModuleType, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(module, name, None) for name in names)


def _takes(function: Any, *names: str) -> bool:
    """Whether a callable's first parameters have these names."""
    import inspect

    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return parameters[: len(names)] == list(names)


def _incompatible(library: str, instead: str) -> None:
    version = getattr(sys.modules.get(library), "__version__", "of this version")
    warnings.warn(
        f"temporal-rumors does not know the insides of {library} {version}, so its names are not registered: {instead}",
        RuntimeWarning,
        stacklevel=2,
    )


def _replace(original: Any, replacement: Any, holders: Sequence[str]) -> None:
    setattr(replacement, _OURS, True)
    name = replacement.__name__
    # A holder that is imported later takes the replacement from the first one by itself.
    for holder in holders:
        module = sys.modules.get(holder)
        if module and getattr(module, name, None) is original:
            setattr(module, name, replacement)


def _is_bare(name: Any) -> bool:
    return isinstance(name, str) and not set(name) & set("/\\.")
