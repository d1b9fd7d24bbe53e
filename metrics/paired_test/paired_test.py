"""The `paired_test` module for Hugging Face evaluate."""

import json

import datasets
import evaluate

from .scoring import paired_test, read_labels

_DESCRIPTION = """
Whether one of two systems is better on the same test set: McNemar's exact test of accuracy, approximate randomisation
of macro-F1, and a bootstrap interval of the difference of macro-F1, by groups of examples that belong together.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions1: labels that system 1 predicts, all int, all str or all bool: a list, tuple, numpy array, pandas
        Series, Arrow array, tensor or dataset column.
    predictions2: labels that system 2 predicts, of the same kind, as many.
    references: true labels of the same kind, as many.
    groups: the group of each example, such as its thread, event or cluster of near copies, all int or all str. Examples
        of one group are drawn and swapped together. By default each is its own.
    labels (list): the classes that macro-F1 is averaged over. Default: all that occur in any of the three, sorted.
    level (float): share of such intervals that are to hold the true difference. Default: 0.95.
    n_resamples (int): number of bootstrap samples. Default: 2000.
    n_swaps (int): number of random swaps, where not all ways to swap are gone through. Default: 10000.
    seed (int): of the random numbers. Default: 0.

Returns:
    accuracy1, accuracy2, accuracy_difference (float): the difference is that of system 1 minus that of system 2.
    macro_f1_1, macro_f1_2, macro_f1_difference (float): likewise.
    interval (list): lower and upper bound of the difference of macro-F1.
    level (float): as passed.
    mcnemar_p (float): two-sided, that the systems have the same accuracy. It takes examples for independent.
    randomisation_p (float): two-sided, that they have the same macro-F1.
    n_examples, n_groups (int): how many there are.
    n_disagreements (int): examples whose predictions differ.
    n_only_1_right, n_only_2_right (int): examples that one system alone has right.
    labels (list): the classes averaged over.

Examples:

    >>> paired_test = evaluate.load("paired_test", module_type="comparison")
    >>> result = paired_test.compute(
    ...     predictions1=[0, 1, 1, 0, 1, 0, 1, 1],
    ...     predictions2=[1, 1, 0, 0, 0, 1, 1, 0],
    ...     references=[0, 1, 1, 0, 1, 0, 1, 1],
    ... )
    >>> result["accuracy1"], result["accuracy2"], result["n_disagreements"]
    (1.0, 0.375, 5)
    >>> result["mcnemar_p"]
    0.0625

    Systems that answer the same do not differ:

    >>> result = paired_test.compute(predictions1=["a", "b"], predictions2=["a", "b"], references=["a", "a"])
    >>> result["mcnemar_p"], result["randomisation_p"], result["interval"]
    (1.0, 1.0, [0.0, 0.0])

    In batches, and by groups:

    >>> paired_test.add_batch(predictions1=[1, 0], predictions2=[0, 0], references=[1, 0], groups=["x", "x"])
    >>> paired_test.add(prediction1=1, prediction2=1, reference=1, group="y")
    >>> paired_test.compute()["n_groups"]
    2
"""

_CITATION = """\
@article{mcnemar-1947-note,
    title = "Note on the sampling error of the difference between correlated proportions or percentages",
    author = "McNemar, Quinn",
    journal = "Psychometrika",
    volume = "12",
    year = "1947"
}
@inproceedings{yeh-2000-accurate,
    title = "More accurate tests for the statistical significance of result differences",
    author = "Yeh, Alexander",
    booktitle = "COLING 2000 Volume 2: The 18th International Conference on Computational Linguistics",
    year = "2000"
}
"""

_FEATURES = ("predictions1", "predictions2", "references")


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class PairedTest(evaluate.Comparison):
    """Keeps labels batch by batch; only a distributed evaluation writes evaluate's cache files."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._batches = []

    def _info(self):
        return evaluate.ComparisonInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Text first: it is what several processes exchange, and evaluate takes the first features that fit.
            features=[
                datasets.Features({name: datasets.Value(kind) for name in _FEATURES})
                for kind in ("string", "int64", "bool")
            ],
        )

    def __len__(self):
        return sum(len(batch["references"]) for batch in self._batches)

    def add(self, *, prediction1=None, prediction2=None, reference=None, group=None):
        """Add one example: both predictions and the reference."""
        self.add_batch(
            predictions1=[prediction1],
            predictions2=[prediction2],
            references=[reference],
            groups=None if group is None else [group],
        )

    def add_batch(self, *, predictions1=None, predictions2=None, references=None, groups=None):
        """Add a batch of examples; a batch that is refused changes nothing."""
        self._batches.append(_read(predictions1, predictions2, references, groups))

    def compute(self, *, predictions1=None, predictions2=None, references=None, groups=None, **options):
        """Compare on all that was added, with what is passed, and start afresh.

        Where it raises in a single process, what was added before is kept, so that a mistyped argument costs nothing.
        With several processes, process 0 returns the result and the others None.
        """
        batches = [*self._batches]
        if self.num_process > 1:
            self._batches = []
        if any(values is not None for values in (predictions1, predictions2, references, groups)):
            batches.append(_read(predictions1, predictions2, references, groups))
        if self.num_process > 1:
            text = json.dumps(batches)
            super().add_batch(**{name: [text] for name in _FEATURES})
            texts = super().compute()
            if texts is None:
                return None
            batches = [batch for text in texts for batch in json.loads(text)]
        if len({batch["groups"] is None for batch in batches if batch["references"]}) > 1:
            raise ValueError("groups are given for some batches only: pass them with every batch, or with none.")
        columns = {name: [label for batch in batches for label in batch[name] or []] for name in (*_FEATURES, "groups")}
        result = paired_test(**{**columns, "groups": columns["groups"] or None}, **options)
        self._batches = []
        return result

    def _compute(self, predictions1, predictions2, references):
        # Nothing here may fail: evaluate would keep its cache files locked.
        return references


def _read(predictions1, predictions2, references, groups):
    given = {"predictions1": predictions1, "predictions2": predictions2, "references": references, "groups": groups}
    batch = {
        name: None if name == "groups" and values is None else read_labels(values, name)[1]
        for name, values in given.items()
    }
    lengths = {name: len(labels) for name, labels in batch.items() if labels is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length:,} {name}" for name, length in lengths.items())
        raise ValueError(f"found {found}: pass one of each for every example.")
    return batch
