"""Models: one sub-package each, holding one class ``Classifier``; found by its folder's name, listed nowhere else."""

from __future__ import annotations

import abc
import importlib
import inspect
import json
import os
import pkgutil
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from zipfile import BadZipFile

import numpy as np

from temporal_rumors.errors import UserError, nearest, unknown
from temporal_rumors.processes import is_main

_META = "model.json"
# The sub-package of all models that are told apart by a checkpoint.
_CHECKPOINTS = "transformer"


class Model(abc.ABC):
    """A classifier of posts: texts are encoded once per benchmark, and every run takes its rows of the encoding.

    Its package imports training libraries inside functions, since planning a grid imports the package. A subclass is
    called ``Classifier``, takes ``labels`` and keyword-only settings, and defines ``encode`` and the
    methods with an underscore.

    Attributes:
        name: that of its folder.
        version: part of a run's key; raise it when predictions change.
        deterministic: the seed changes nothing, so that one run is enough.
        libraries: distributions whose versions may show in predictions; run records note them.
        labels: class names; a class index is an index into them.
        settings: everything else that predictions depend on, as JSON holds it; part of a run's key.
    """

    name: str
    version: ClassVar[str]
    deterministic: ClassVar[bool]
    libraries: ClassVar[tuple[str, ...]]

    def __init__(self, labels: Sequence[str], settings: dict[str, Any]) -> None:
        if isinstance(labels, str) or len(set(labels)) < 2 or len(set(labels)) < len(labels):
            raise UserError(f"labels must be two or more different class names, found {labels!r}")
        self.labels = list(labels)
        self.settings = settings
        self._fitted = False

    @abc.abstractmethod
    def encode(self, texts: Sequence[str], *context: Sequence[str]) -> Any:
        """Turn texts into what the model reads, row by row: no row depends on another, nor on labels or splits.

        Args:
            texts: (n,) str, the posts.
            *context: (n,) str each, what a benchmark gives beside them, such as the post that each replies to; blank
                where there is none.

        Returns:
            An object with ``len(encoded) == n`` and ``encoded[rows]`` for an integer array of rows.
        """

    def fit(
        self,
        train: Any,
        train_labels: Sequence[int] | np.ndarray,
        validation: Any,
        validation_labels: Sequence[int] | np.ndarray,
        seed: int = 0,
        folder: Path | None = None,
    ) -> None:
        """Train on one part and tune on another.

        Args:
            train: encoded posts to train on.
            train_labels: (n_train,) integers, class indices.
            validation: encoded posts to tune on.
            validation_labels: (n_validation,) integers, class indices.
            seed: of everything random.
            folder: where a long fit keeps what it needs to go on after an interruption; None keeps nothing.

        Raises:
            UserError: a part is empty, its labels do not fit it, or the training part holds a single class.
        """
        known = self._check_labels("training", train, train_labels)
        held = self._check_labels("validation", validation, validation_labels)
        classes = np.unique(known)
        if len(classes) < 2:
            raise UserError(
                f"all {len(known)} training posts are {self.labels[classes[0]]!r}: "
                "a classifier needs at least two classes to train on"
            )
        self._fitted = False
        self._fit(train, known, validation, held, seed, folder)
        self._fitted = True

    @property
    @abc.abstractmethod
    def fitted(self) -> dict[str, Any]:
        """What fitting chose, for the run record, as JSON holds it."""

    def predict(self, encoded: Any) -> np.ndarray:
        """Return the (n,) int64 class index of each encoded post."""
        return self.predict_proba(encoded).argmax(axis=1).astype(np.int64)

    def predict_proba(self, encoded: Any) -> np.ndarray:
        """Return the (n, n_classes) float64 probability of each class; 0 for one that training never showed."""
        from scipy.special import softmax

        self._check_fitted()
        probabilities: np.ndarray = softmax(self._scores(encoded), axis=1)
        return probabilities

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the fitted model into a folder of JSON and npz files, in place of a model already there.

        Raises:
            UserError: the model is not fitted, or the folder holds something else.
        """
        self._check_fitted()
        if not is_main():
            # It takes part where a model is spread over processes, and leaves the writing to the main one.
            with TemporaryDirectory() as unused:
                self._save(Path(unused))
            return
        target = Path(folder)
        if target.exists() and not (target / _META).is_file():
            raise UserError(f"{target} exists and is no saved model: choose another folder, or delete it")
        meta = {"model": self.name, "version": self.version, "labels": self.labels, "settings": self.settings}
        # Built beside its place and moved there, so that an interrupted save leaves no half-written model.
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        part.mkdir(parents=True)
        try:
            self._save(part)
            (part / _META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8", newline="\n")
            if target.exists():
                shutil.rmtree(target)
            part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Model:
        """Read back a model that :meth:`save` wrote, whichever sub-package it is of.

        Raises:
            UserError: no such model, or one that another version saved.
        """
        path = Path(folder) / _META
        try:
            meta = json.loads(path.read_text(encoding="utf-8"))
            name, version = meta["model"], meta["version"]
            model = create(name, meta["labels"], **meta["settings"])
            if version == model.version:
                model._load(path.parent)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
            raise UserError(f"{path.parent} holds no model to load: {error}") from error
        if version != model.version:
            found = f"version {version} of {name} saved it, this is {model.version}"
            raise UserError(f"{path.parent}: {found}: train it again")
        model._fitted = True
        return model

    @abc.abstractmethod
    def _fit(
        self,
        train: Any,
        train_labels: np.ndarray,
        validation: Any,
        validation_labels: np.ndarray,
        seed: int,
        folder: Path | None,
    ) -> None:
        """Fit to parts that :meth:`fit` has checked."""

    @abc.abstractmethod
    def _scores(self, encoded: Any) -> np.ndarray:
        """Return (n, n_classes) float64 logits; -inf for a class that training never showed."""

    @abc.abstractmethod
    def _save(self, folder: Path) -> None:
        """Write what was learnt into an empty folder."""

    @abc.abstractmethod
    def _load(self, folder: Path) -> None:
        """Read what :meth:`_save` wrote."""

    def _check_fitted(self) -> None:
        if not self._fitted:
            raise UserError(f"this {self.name} model is not trained: call fit first, or load a saved one")

    def _check_labels(self, part: str, encoded: Any, labels: Sequence[int] | np.ndarray) -> np.ndarray:
        array = np.asarray(labels)
        if len(array) != len(encoded):
            raise UserError(f"the {part} part has {len(encoded)} posts but {len(array)} labels")
        if not len(array):
            raise UserError(f"the {part} part is empty: {self.name} needs posts to train on and posts to tune on")
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= len(self.labels):
            raise UserError(
                f"{part} labels must be integers from 0 to {len(self.labels) - 1} (indices into {self.labels}), "
                f"found {array.dtype} values such as {array[:3].tolist()}"
            )
        return array.astype(np.int64)


def available() -> list[str]:
    """Return the names of all models that come with the package; imports none of them."""
    found = (module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    return sorted(name for name in found if name != _CHECKPOINTS)


def classifier_of(name: str) -> type[Model]:
    """Return the class of a model: any name that no model of the package has is that of a checkpoint.

    Raises:
        UserError: a misspelt name of a model of the package.
    """
    package = name if name in available() else _CHECKPOINTS
    if package != name and nearest(name, available()) and not Path(name).is_dir():
        raise UserError(f"{unknown('model', name, available())}, a folder with a checkpoint, or its name on the Hub")
    classifier: type[Model] = importlib.import_module(f"{__name__}.{package}").Classifier
    return classifier


def settings_of(name: str) -> list[str]:
    """Return the names of a model's settings."""
    parameters = inspect.signature(classifier_of(name)).parameters
    return [parameter for parameter in parameters if parameter not in ("labels", "name")]


def create(name: str, labels: Sequence[str], **settings: Any) -> Model:
    """Return an untrained model.

    Args:
        name: one of :func:`available`, or a checkpoint: a folder, or a name on the Hub.
        labels: class names; a class index is an index into them.
        settings: keyword arguments of the model's ``Classifier``.

    Raises:
        UserError: no such model or setting; the message lists the valid ones.
    """
    classifier, valid = classifier_of(name), settings_of(name)
    for setting in settings:
        if setting not in valid:
            raise UserError(unknown(f"setting of {name}", setting, valid))
    if name not in available():
        settings["name"] = name
    # Every Classifier takes the labels first; its settings are its own.
    return classifier(labels, **settings)
