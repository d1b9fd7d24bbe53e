"""The `leakage` module for Hugging Face evaluate."""

import json

import datasets
import evaluate

from .scoring import leakage

_DESCRIPTION = """
How many test texts have a near copy among the training texts: another text within a character Levenshtein distance,
found exactly. A model can answer such a text by recalling what it was trained on.
"""

_KWARGS_DESCRIPTION = """
Args:
    data: test texts: a list, tuple, array, Series or dataset column of str.
    references: training texts, likewise; they need not be as many.
    threshold (int or float): the largest distance of a near copy; a float in [0, 1) is the largest distance divided by
        the length of the longer text. Default: 20.
    short (str): "exclude" (default) leaves out texts no longer than the threshold, blank ones and links alone, on both
        sides; "include" compares all.

Returns:
    near_copy (int): test texts with a near copy among the training texts.
    near_copy_share (float): the same, of all test texts.
    near_copy_masked (int), near_copy_masked_share (float): the same after links and mentions are masked,
        which then count towards no length.
    nearest (list): [position in data, position in references, distance] for each test text with a near copy.
    n_data, n_references (int): how many texts there are.
    short_data, short_references (int): how many of them are too short for the threshold.
    threshold (int or float): as passed.

Examples:

    >>> leakage = evaluate.load("leakage", module_type="measurement")
    >>> train = ["Police have closed the bridge in the city centre", "Nobody was hurt in the fire at the harbour"]
    >>> test = ["BREAKING: police have closed the bridge in the city centre", "The trains are running again since noon"]
    >>> result = leakage.compute(data=test, references=train)
    >>> result["near_copy"], result["near_copy_share"], result["nearest"]
    (1, 0.5, [[0, 0, 11]])

    In batches:

    >>> leakage.add_batch(references=train)
    >>> leakage.add_batch(data=test)
    >>> leakage.compute(threshold=5)["near_copy"]
    0
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
class Leakage(evaluate.Measurement):
    """Keeps texts batch by batch; only a distributed evaluation writes evaluate's cache files."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._texts = {"data": [], "references": []}

    def _info(self):
        return evaluate.MeasurementInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"data": datasets.Value("string"), "references": datasets.Value("string")}),
        )

    def __len__(self):
        return len(self._texts["data"])

    def add(self, *, data=None, reference=None):
        """Add one test text, one training text, or one of each."""
        self.add_batch(data=None if data is None else [data], references=None if reference is None else [reference])

    def add_batch(self, *, data=None, references=None):
        """Add test texts, training texts, or both, as many as there are of each."""
        given = {"data": data, "references": references}
        batch = {name: _listed(values, name) for name, values in given.items() if values is not None}
        for name, texts in batch.items():
            self._texts[name] += texts

    def compute(self, *, data=None, references=None, threshold=20, short="exclude"):
        """Measure all that was added, with data and references if given, and start afresh.

        Where it raises in a single process, what was added before is kept, so that a mistyped argument costs nothing.
        With several processes, process 0 returns the result and the others None.
        """
        before = {name: list(texts) for name, texts in self._texts.items()}
        try:
            self.add_batch(data=data, references=references)
            texts = self._texts
            if self.num_process > 1:
                before = {name: [] for name in texts}
                texts = self._gather()
            result = None if texts is None else leakage(**texts, threshold=threshold, short=short)
        except Exception:
            self._texts = before
            raise
        self._texts = {name: [] for name in before}
        return result

    def _gather(self):
        super().add_batch(data=[json.dumps(self._texts)], references=[""])
        parts = super().compute()
        if parts is None:
            return None
        loaded = [json.loads(part) for part in parts]
        return {name: [text for part in loaded for text in part[name]] for name in self._texts}

    def _compute(self, data, references):
        # Nothing here may fail: evaluate would keep its cache files locked.
        return data


def _listed(values, name):
    if isinstance(values, (str, bytes, dict, set)) or hasattr(values, "columns") or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} are a {type(values).__name__}: expected a list of texts, such as one column.")
    texts = list(values)
    for row, text in enumerate(texts):
        # At once: a batch that was taken cannot be taken back.
        if not isinstance(text, str):
            found = f"{text!r:.40} ({type(text).__name__})"
            raise ValueError(f"{name}, row {row} (from 0): found {found}, expected a text; drop the row.")
    return texts
