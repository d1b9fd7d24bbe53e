"""The `macro_prf` module for Hugging Face evaluate."""

import json
from collections import Counter

import datasets
import evaluate

from .scoring import Confusion

_DESCRIPTION = """
Macro-averaged precision, recall and F1, and accuracy, of predicted class labels. Precision, recall and F1 are
computed per class and averaged without weights: a rare class counts as much as a frequent one.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: predicted labels, all int, all str or all bool: a list, tuple, numpy array, pandas Series, Arrow
        array, tensor or dataset column.
    references: true labels of the same kind, as many as predictions.
    labels (list): the classes to average over, in the order to report them. Default: all labels that occur in
        predictions or references, sorted.
    zero_division (float): score of a class for which it is undefined: 0.0 (default), 1.0, or nan to leave the class
        out of the mean.
    ignore_index (int, str or bool): drop the positions whose reference is this label.
    per_class (bool): also return the scores of every class.

Returns:
    precision (float): unweighted mean over the classes.
    recall (float): unweighted mean over the classes.
    f1 (float): unweighted mean of the F1 of each class.
    accuracy (float): share of predictions that equal the reference.
    labels (list): the classes averaged over.
    per_class (dict, only with per_class=True): lists precision, recall, f1 and support, in the order of labels.

Examples:

    >>> macro_prf = evaluate.load("macro_prf")
    >>> macro_prf.compute(predictions=[0, 1, 1, 1], references=[0, 0, 1, 1])["accuracy"]
    0.75

    Batches are counted as they come; labels may be strings:

    >>> macro_prf.add_batch(predictions=["true", "false"], references=["true", "true"])
    >>> macro_prf.add(prediction="false", reference="false")
    >>> scores = macro_prf.compute(labels=["true", "false", "unverified"], per_class=True)
    >>> scores["per_class"]["recall"]
    [0.5, 1.0, 0.0]
    >>> scores["recall"]
    0.5
"""

_CITATION = """\
@inproceedings{mu-etal-2023-time,
    title = "It's about Time: Rethinking Evaluation on Rumor Detection Benchmarks using Chronological Splits",
    author = "Mu, Yida and Bontcheva, Kalina and Aletras, Nikolaos",
    booktitle = "Findings of the Association for Computational Linguistics: EACL 2023",
    year = "2023"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MacroPrf(evaluate.Metric):
    """Counts label pairs batch by batch; only a distributed evaluation writes evaluate's cache files."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._confusion = Confusion()

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Text first: it is what several processes exchange, and evaluate takes the first features that fit.
            features=[
                datasets.Features({"predictions": datasets.Value(kind), "references": datasets.Value(kind)})
                for kind in ("string", "int64", "bool")
            ],
        )

    def __len__(self):
        return len(self._confusion)

    def add(self, *, prediction=None, reference=None, **kwargs):
        """Add one prediction and its reference."""
        example = {"predictions": prediction, "references": reference, **kwargs}
        self.add_batch(**{name: [label] for name, label in example.items()})

    def add_batch(self, *, predictions=None, references=None):
        """Add a batch of predictions and references; a batch that is refused changes nothing."""
        batch = Confusion()
        batch.update(predictions=predictions, references=references)
        self._confusion.merge(batch)
        if self.num_process > 1 and len(batch) > 0:
            rows = [(json.dumps([p, count]), json.dumps([r, batch.kind])) for (r, p), count in batch.pairs.items()]
            predicted, expected = zip(*rows, strict=True)
            super().add_batch(predictions=list(predicted), references=list(expected))

    def compute(
        self,
        *,
        predictions=None,
        references=None,
        labels=None,
        zero_division=0.0,
        ignore_index=None,
        per_class=False,
    ):
        """Score all that was added, with predictions and references if given, and start afresh.

        Where it raises in a single process, what was added before is kept, so that a mistyped argument costs nothing.
        With several processes, process 0 returns the scores and the others None.
        """
        arguments = (labels, zero_division, ignore_index, per_class)
        given = predictions is not None or references is not None
        if self.num_process == 1:
            confusion = Confusion()
            confusion.merge(self._confusion)
            if given:
                confusion.update(predictions=predictions, references=references)
            scores = confusion.result(*arguments)
            self._confusion = Confusion()
            return scores
        try:
            if given:
                self.add_batch(predictions=predictions, references=references)
            confusion = self._gather()
        finally:
            self._confusion = Confusion()
        return None if confusion is None else confusion.result(*arguments)

    def _gather(self):
        if len(self) == 0:
            raise ValueError(
                f"process {self.process_id} of {self.num_process} has nothing to score: add predictions and "
                "references in every process before compute."
            )
        rows = super().compute()
        if rows is None:
            return None
        confusion = Confusion()
        for predicted, expected in rows:
            prediction, count = json.loads(predicted)
            reference, kind = json.loads(expected)
            confusion.add(kind, Counter({(reference, prediction): count}))
        return confusion

    def _compute(self, predictions, references):
        # Nothing here may fail: evaluate would keep its cache files locked.
        return list(zip(predictions, references, strict=True))
