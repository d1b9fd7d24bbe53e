"""Teach `datasets.load_dataset` and `evaluate.load` our names, without importing either before its time."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

METRICS_PACKAGE = "temporal_rumors.metrics"
_SUFFIX = "_temporal"


def register() -> None:
    """Patch the two libraries now where they are imported, else as soon as they are. Calling it again does nothing."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name, hook in _HOOKS.items():
        if module := sys.modules.get(name):
            hook(module)


class _Finder(MetaPathFinder):
    """Finds nothing itself: lets the others find the modules in _HOOKS, and patches these once they have run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _HOOKS:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(fullname, path, target)
            if spec is not None:
                _patch_after_execution(spec, _HOOKS[fullname])
                return spec
        return None


def _patch_after_execution(spec: ModuleSpec, hook: Callable[[ModuleType], None]) -> None:
    loader = spec.loader
    if loader is None or not hasattr(loader, "exec_module"):
        return
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        hook(module)

    loader.exec_module = exec_module  # type: ignore[method-assign]


def _patch_datasets(module: ModuleType) -> None:
    original = getattr(module, "dataset_module_factory", None)
    module_class = getattr(module, "DatasetModule", None)
    if not _takes(original, "path") or not _takes(module_class, "module_path", "hash", "builder_kwargs"):
        _incompatible(
            "datasets",
            "build the benchmarks directly, for example `from temporal_rumors.dataset_scripts.pheme_temporal.builder "
            'import PhemeTemporal; b = PhemeTemporal(config_name="chrono"); b.download_and_prepare(); b.as_dataset()`',
        )
        return

    @functools.wraps(original)  # type: ignore[arg-type]
    def dataset_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        from temporal_rumors import benchmark

        name, known = str(path), benchmark.names()
        if name in known:
            # Made anew at each call: load_dataset empties builder_kwargs.
            return module_class(f"{benchmark.PACKAGE}.{name}.builder", "", {"dataset_name": name})  # type: ignore[misc]
        if _is_bare(name) and name.endswith(_SUFFIX) and not os.path.exists(name):
            raise _unknown("benchmark", name, known, module.DatasetNotFoundError)
        try:
            return original(path, *args, **kwargs)  # type: ignore[misc]
        except Exception as error:
            if _is_bare(name) and difflib.get_close_matches(name, known, 1, 0.8):
                raise _unknown("benchmark", name, known, module.DatasetNotFoundError) from error
            raise

    _replace("dataset_module_factory", original, dataset_module_factory, ("datasets.load", "datasets.inspect"))


def _patch_evaluate(module: ModuleType) -> None:
    original = getattr(module, "evaluation_module_factory", None)
    module_class = getattr(module, "ImportableModule", None)
    if not _takes(original, "path") or not _takes(module_class, "module_path", "hash"):
        _incompatible(
            "evaluate",
            "use the functions directly, for example `temporal_rumors.macro_prf(predictions=…, references=…)`",
        )
        return

    @functools.wraps(original)  # type: ignore[arg-type]
    def evaluation_module_factory(path: Any, *args: Any, **kwargs: Any) -> Any:
        name = str(path)
        if name in metric_names():
            return module_class(f"{METRICS_PACKAGE}.{name}.{name}", "")  # type: ignore[misc]
        return original(path, *args, **kwargs)  # type: ignore[misc]

    _replace(
        "evaluation_module_factory",
        original,
        evaluation_module_factory,
        ("evaluate.loading", "evaluate.inspect", "evaluate.evaluation_suite"),
    )


def metric_names() -> list[str]:
    """Return the names of our `evaluate` modules, those of the folders under metrics/."""
    root = Path(importlib.import_module(METRICS_PACKAGE).__path__[0])
    return sorted(p.name for p in root.iterdir() if (p / f"{p.name}.py").is_file())


_HOOKS: dict[str, Callable[[ModuleType], None]] = {
    "datasets.load": _patch_datasets,
    "evaluate.loading": _patch_evaluate,
}


def _replace(name: str, original: Any, replacement: Any, holders: Sequence[str]) -> None:
    # Modules imported later take the replacement from the first holder by themselves.
    for holder in holders:
        module = sys.modules.get(holder)
        if module is not None and getattr(module, name, None) is original:
            setattr(module, name, replacement)


def _takes(function: Any, *names: str) -> bool:
    """Whether a callable's first positional parameters have these names."""
    if not callable(function):
        return False
    parameters = list(inspect.signature(function).parameters)
    return parameters[: len(names)] == list(names)


def _incompatible(library: str, instead: str) -> None:
    version = getattr(sys.modules.get(library), "__version__", "this version")
    warnings.warn(
        f"temporal-rumors does not know the insides of {library} {version}: its names are not registered there; {instead}",
        RuntimeWarning,
        stacklevel=2,
    )


def _is_bare(name: str) -> bool:
    return "/" not in name and os.sep not in name and "." not in name


def _unknown(kind: str, name: str, known: Sequence[str], error: type[Exception]) -> Exception:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return error(f"unknown {kind} {name!r}{hint}; temporal-rumors has {', '.join(known)}")
