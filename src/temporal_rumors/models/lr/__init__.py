"""Logistic regression on TF-IDF of uni- to tri-grams: scikit-learn's scores, without counting n-grams anew each run."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from temporal_rumors import macro_prf
from temporal_rumors.errors import UserError
from temporal_rumors.models import Model
from temporal_rumors.models.lr.ngrams import ANALYZERS, Columns, Terms, count_ngrams

_VOCABULARY, _WEIGHTS = "vocabulary.json", "weights.npz"
_MAX_ITERATIONS = 1000  # the benchmarks' posts need fewer than 100


@contextmanager
def _lean() -> Iterator[None]:
    """Have scikit-learn neither check inputs that are made right here, nor use threads for small vectors.

    The checks would take a tenth of the time; the threads wait for each other where runs share the cores.
    """
    import sklearn

    with (
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
        _threads().limit(limits=1, user_api="blas"),
    ):
        yield


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController

    # Once, since it looks through all libraries loaded so far; those of scikit-learn must be among them.
    importlib.import_module("sklearn.linear_model")
    return ThreadpoolController()


class Classifier(Model):
    """The paper's LR baseline; C is the grid's best on the validation part by macro-F1, the smallest of equals.

    Each text that belongs to a post (itself, and what it replies to) has a vocabulary and features of its own.

    Args:
        labels: class names.
        analyzer: what an n-gram is made of, "word" or "char".
        vocabulary_size: n-grams to keep of each text, the most frequent in the training part.
        min_posts: training posts that an n-gram must stand in.
        grid: values of C to try.

    Source: Mu et al. 2023, sections 2.3 and 2.4.
    """

    name = "lr"
    version = "1"
    deterministic = True
    libraries = ("scikit-learn",)

    def __init__(
        self,
        labels: Sequence[str],
        *,
        analyzer: str = "word",
        vocabulary_size: int = 5000,
        min_posts: int = 3,
        grid: Sequence[float] = (0.1, 1.0, 10.0, 100.0),
    ) -> None:
        if analyzer not in ANALYZERS:
            raise UserError(f"unknown analyzer {analyzer!r}; valid ones: {', '.join(ANALYZERS)}")
        if vocabulary_size < 1 or min_posts < 1:
            raise UserError(f"vocabulary_size={vocabulary_size} and min_posts={min_posts} must be at least 1")
        if not grid or not all(0 < c < math.inf for c in grid):
            raise UserError(f"grid must hold positive numbers, found {list(grid)}")
        super().__init__(
            labels,
            {
                "analyzer": analyzer,
                "vocabulary_size": vocabulary_size,
                "min_posts": min_posts,
                "grid": sorted({float(c) for c in grid}),
            },
        )

    def encode(self, texts: Sequence[str], *context: Sequence[str]) -> Columns:
        for column in context:
            if len(column) != len(texts):
                raise UserError(f"{len(texts)} posts, but {len(column)} texts to go with them: one each is needed")
        return Columns(tuple(count_ngrams(column, self.settings["analyzer"]) for column in (texts, *context)))

    def _fit(
        self,
        train: Columns,
        train_labels: np.ndarray,
        validation: Columns,
        validation_labels: np.ndarray,
        seed: int,
        folder: Path | None,
    ) -> None:
        min_posts = self.settings["min_posts"]
        self.vocabularies = [column.vocabulary(self.settings["vocabulary_size"], min_posts) for column in train.columns]
        if not any(map(len, self.vocabularies)):
            raise UserError(
                f"no {self.settings['analyzer']} n-gram stands in {min_posts} or more of the {len(train)} training "
                "posts: train on more posts, or lower min_posts"
            )
        counts = [c.count(vocabulary) for c, vocabulary in zip(train.columns, self.vocabularies, strict=True)]
        n_posts = [np.bincount(c.indices, minlength=c.shape[1]) for c in counts]
        self.idf = [np.log((len(train) + 1) / (n + 1)) + 1 for n in n_posts]
        with _lean():
            features = _side_by_side(counts, self.idf)
            chosen = self._choose(features, train_labels, self._features(validation), validation_labels)
        self.c = float(chosen.C)
        self.coef = np.zeros((len(self.labels), features.shape[1]))
        self.intercept = np.full(len(self.labels), -np.inf)
        # Of two classes scikit-learn scores the second against the first, whose own score is then 0.
        self.intercept[chosen.classes_] = 0.0
        scored = chosen.classes_[-len(chosen.coef_) :]
        self.coef[scored], self.intercept[scored] = chosen.coef_, chosen.intercept_

    def _choose(
        self, train: csr_matrix, train_labels: np.ndarray, validation: csr_matrix, validation_labels: np.ndarray
    ) -> Any:
        """The fitted LogisticRegression of the grid that is best on the validation part."""
        from sklearn.linear_model import LogisticRegression

        best = -1.0
        # Each fit starts from zero and stops at the default tolerance, as a plain script's does: that is short of the
        # optimum, so a warm start or another solver, though faster, would change one prediction in two hundred.
        for c in self.settings["grid"]:
            model = LogisticRegression(C=c, max_iter=_MAX_ITERATIONS).fit(train, train_labels)
            found = macro_prf(predictions=model.predict(validation), references=validation_labels)["f1"]
            if found > best:
                best, chosen = found, model
        return chosen

    @property
    def fitted(self) -> dict[str, Any]:
        return {"C": self.c, "n_features": sum(map(len, self.vocabularies))}

    def _scores(self, encoded: Columns) -> np.ndarray:
        scores: np.ndarray = self._features(encoded) @ self.coef.T + self.intercept
        return scores

    def _save(self, folder: Path) -> None:
        names = json.dumps([vocabulary.names() for vocabulary in self.vocabularies], indent=0)
        (folder / _VOCABULARY).write_text(names + "\n", encoding="utf-8", newline="\n")
        idf = np.concatenate(self.idf)
        np.savez(folder / _WEIGHTS, idf=idf, coef=self.coef, intercept=self.intercept, c=np.array(self.c))

    def _load(self, folder: Path) -> None:
        names = json.loads((folder / _VOCABULARY).read_text(encoding="utf-8"))
        with np.load(folder / _WEIGHTS) as weights:
            idf, self.coef, self.intercept = weights["idf"], weights["coef"], weights["intercept"]
            self.c = float(weights["c"])
        if sum(map(len, names)) != len(idf):
            raise ValueError(f"{_VOCABULARY} has {sum(map(len, names))} n-grams, {_WEIGHTS} has {len(idf)}")
        self.vocabularies = [Terms.from_names(of_column, self.settings["analyzer"]) for of_column in names]
        self.idf = np.split(idf, np.cumsum([len(of_column) for of_column in names])[:-1])

    def _features(self, encoded: Columns) -> csr_matrix:
        if len(encoded.columns) != len(self.vocabularies):
            raise UserError(f"trained with {len(self.vocabularies)} texts a post, now given {len(encoded.columns)}")
        counts = [c.count(vocabulary) for c, vocabulary in zip(encoded.columns, self.vocabularies, strict=True)]
        return _side_by_side(counts, self.idf)


def _side_by_side(counts: Iterable[csr_matrix], idf: Iterable[np.ndarray]) -> csr_matrix:
    """The TF-IDF features of each column of texts, one after the other."""
    from scipy.sparse import hstack

    features: csr_matrix = hstack([_tfidf(c, weights) for c, weights in zip(counts, idf, strict=True)], format="csr")
    return features


def _tfidf(counts: csr_matrix, idf: np.ndarray) -> csr_matrix:
    """Weight and l2-normalise counts, bit for bit as scikit-learn's TfidfVectorizer.transform does.

    Its fit_transform orders the entries of a row by when it first met them, and so may round a sum otherwise.
    """
    from sklearn.preprocessing import normalize

    if not counts.nnz:
        return counts
    weighted = csr_matrix((counts.data * idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
    return normalize(weighted, copy=False)
