"""The `rumoureval` module for Hugging Face evaluate."""

import json
from numbers import Real

import datasets
import evaluate

from .scoring import LABELS, Answers

_DESCRIPTION = """
The scores of the RumourEval shared tasks, for the stance of replies to a rumour (support, deny, query, comment) and
for the veracity of a rumour (true, false, unverified, with a confidence): those of the official scripts of 2017 and
2019, and those of the 2017 paper. The configs are "stance" and "veracity"; without one the task is inferred from the
labels.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: predicted labels, aligned with references by position: a list, tuple, array, Series or dataset
        column of str. Or a dict {id: answer}, where an answer is a label or [label, confidence]; or one such dict for
        each language, {language: {id: answer}}.
    references: true labels, in the same form, without confidences.
    confidences: confidences of the predictions, 0 to 1, in the form of the predictions, if not in the answers.
        For all predictions or none; veracity only.
    reference_confidences: confidences of the references, in their form. Default: 1.0. Edition "paper" only.
    edition (str): whose scores: "paper" (default), "2017" or "2019".
    strict (bool): True (default) refuses unknown labels and confidences outside 0 to 1; False uses them as the official
        scripts do.
    missing (str): a reference without an answer is "incorrect" (default), or an "error".
    per_class (bool): also return the recall of every class and the confusion matrix.

Returns (a score that the edition or task does not define is absent; * only with confidences):
    accuracy (float): share of the references answered right. In edition 2019, unverified is never right.
    balanced_accuracy (float, paper, veracity): mean recall over the classes of the references.
    macro_f1 (float, 2019): over the answered references, and the labels among them; the mean over the languages.
    macro_f1_thresholded (float, 2019, veracity*): the same with answers of confidence below 0.5 read as unverified.
    confidence_rmse (float, 2017 and 2019, veracity*): over the answered references.
    confidence_rmse_correct (float, paper, veracity*): rho over the right answers, as in the recipe.
    confidence_rmse_incorrect_as_1 (float, paper, veracity*): rho over all references, a wrong answer counting as 1.
    final_score (float, paper, veracity*): (1 - confidence_rmse_correct) * accuracy.
    final_score_macro (float, paper, veracity*): (1 - confidence_rmse_correct) * balanced_accuracy.
    num_references, num_matched, num_extra (int): references, those with an answer, and answers without a reference.
    labels, per_class, confusion_matrix (only with per_class=True): the classes; lists recall, support and missing in
        their order; a matrix whose rows are references and columns answers.

Examples:

    >>> stance = evaluate.load("rumoureval", "stance")
    >>> stance.compute(predictions=["comment", "deny"], references=["comment", "query"], edition="2019")["accuracy"]
    0.5

    Veracity answers have confidences:

    >>> veracity = evaluate.load("rumoureval", "veracity")
    >>> scores = veracity.compute(
    ...     predictions=["true", "false"], confidences=[0.75, 1.0], references=["true", "unverified"]
    ... )
    >>> scores["accuracy"], scores["confidence_rmse_correct"], scores["final_score"]
    (0.5, 0.25, 0.375)

    By id, where an answer may be missing; the task is inferred:

    >>> metric = evaluate.load("rumoureval")
    >>> references = {"a": "true", "b": "false"}
    >>> scores = metric.compute(predictions={"a": ["true", 1.0]}, references=references, edition="2017")
    >>> scores["accuracy"], scores["confidence_rmse"], scores["num_matched"]
    (0.5, 0.0, 1)

    In batches:

    >>> veracity.add_batch(predictions=["true", "false"], references=["true", "true"], confidences=[1.0, 0.5])
    >>> veracity.add(prediction="unverified", reference="unverified", confidence=0.0)
    >>> veracity.compute(edition="2019", per_class=True)["confusion_matrix"]
    [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
"""

_CITATION = """\
@inproceedings{derczynski-etal-2017-semeval,
    title = "{S}em{E}val-2017 Task 8: {R}umour{E}val: Determining rumour veracity and support for rumours",
    author = "Derczynski, Leon and Bontcheva, Kalina and Liakata, Maria and Procter, Rob and Wong Sak Hoi, Geraldine and
      Zubiaga, Arkaitz",
    booktitle = "Proceedings of the 11th International Workshop on Semantic Evaluation (SemEval-2017)",
    year = "2017"
}
@inproceedings{gorrell-etal-2019-semeval,
    title = "{S}em{E}val-2019 Task 7: {R}umour{E}val, Determining Rumour Veracity and Support for Rumours",
    author = "Gorrell, Genevieve and Kochkina, Elena and Liakata, Maria and Aker, Ahmet and Zubiaga, Arkaitz and
      Bontcheva, Kalina and Derczynski, Leon",
    booktitle = "Proceedings of the 13th International Workshop on Semantic Evaluation",
    year = "2019"
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Rumoureval(evaluate.Metric):
    """Keeps answers batch by batch; only a distributed evaluation writes evaluate's cache files."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._answers = Answers()

    def _info(self):
        if self.config_name not in ("default", *LABELS):
            raise ValueError(
                f"config {self.config_name!r}: expected {' or '.join(map(repr, LABELS))}, or none to infer the task."
            )
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
        )

    def __len__(self):
        return len(self._answers)

    def add(self, *, prediction=None, reference=None, confidence=None, reference_confidence=None, **kwargs):
        """Add one prediction and its reference."""
        example = {
            "predictions": prediction,
            "references": reference,
            "confidences": confidence,
            "reference_confidences": reference_confidence,
            **kwargs,
        }
        self.add_batch(**{name: [value] for name, value in example.items() if value is not None})

    def add_batch(self, *, predictions=None, references=None, confidences=None, reference_confidences=None):
        """Add a batch of predictions and references; a batch that is refused changes nothing."""
        self._answers.add(
            predictions=predictions,
            references=references,
            confidences=confidences,
            reference_confidences=reference_confidences,
        )

    def compute(
        self,
        *,
        predictions=None,
        references=None,
        confidences=None,
        reference_confidences=None,
        edition="paper",
        strict=True,
        missing="incorrect",
        per_class=False,
    ):
        """Score all that was added, with predictions and references if given, and start afresh.

        Where it raises in a single process, what was added before is kept, so that a mistyped argument costs nothing.
        With several processes, process 0 returns the scores and the others None.
        """
        answers = Answers()
        answers.merge(self._answers)
        if self.num_process > 1:
            self._answers = Answers()
        inputs = {
            "predictions": predictions,
            "references": references,
            "confidences": confidences,
            "reference_confidences": reference_confidences,
        }
        if any(values is not None for values in inputs.values()):
            answers.add(**inputs)
        if self.num_process > 1:
            answers = self._gather(answers)
            if answers is None:
                return None
        task = None if self.config_name == "default" else self.config_name
        scores = answers.result(task=task, edition=edition, strict=strict, missing=missing, per_class=per_class)
        self._answers = Answers()
        return scores

    def _gather(self, answers):
        text = json.dumps([answers.form, answers.inputs], default=_plain)
        super().add_batch(predictions=[text], references=[""])
        texts = super().compute()
        if texts is None:
            return None
        gathered = Answers()
        for text in texts:
            part = Answers()
            part.form, part.inputs = json.loads(text)
            gathered.merge(part)
        return gathered

    def _compute(self, predictions, references):
        # Nothing here may fail: evaluate would keep its cache files locked.
        return predictions


def _plain(value):
    """Return a number of numpy's as Python's; what is none is refused here as it would be in one process."""
    if isinstance(value, Real):
        return float(value)
    raise ValueError(f"found {value!r} among the answers, expected labels and numbers from 0 to 1.")
