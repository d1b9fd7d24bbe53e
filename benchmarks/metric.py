"""Compare `macro_prf`, function and module, with scikit-learn and with evaluate's precision, recall and f1.

All contenders get the same labels in turn, in one process; the table shows median times and how many times faster
`macro_prf` is. Every result is checked against scikit-learn's. evaluate's three modules are rebuilt here as they are on
the Hub, so that nothing is downloaded; they take integers only.

    python benchmarks/metric.py [--max 1e7] [--classes 4]
"""

import argparse
import statistics
import tempfile
import time

import datasets
import evaluate
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support, precision_score, recall_score

from temporal_rumors.metrics.macro_prf.macro_prf import MacroPrf
from temporal_rumors.metrics.macro_prf.scoring import macro_prf

NAMES = ("precision", "recall", "f1", "accuracy")
LABELS = np.array([f"{prefix}-rumour" for prefix in ("true", "false", "unverified", "no", "old", "new", "un", "anti")])


class ByScikitLearn(evaluate.Metric):
    """What evaluate's modules of the Hub do: declare int32 features and call a function of scikit-learn."""

    function = None

    def _info(self):
        features = {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(features))

    def _compute(self, predictions, references, average="macro"):
        return {self.name: float(self.function(references, predictions, average=average, zero_division=0))}


class Precision(ByScikitLearn):
    function = staticmethod(precision_score)


class Recall(ByScikitLearn):
    function = staticmethod(recall_score)


class F1(ByScikitLearn):
    function = staticmethod(f1_score)


def scikit_learn(predictions, references):
    macro = precision_recall_fscore_support(references, predictions, average="macro", zero_division=0)[:3]
    return dict(zip(NAMES, (*macro, accuracy_score(references, predictions)), strict=True))


def labelled(size, classes, container):
    """Return predictions and references, 70 % of them equal, as the named container of labels."""
    generator = np.random.default_rng(0)
    references = generator.integers(0, classes, size)
    predictions = np.where(generator.random(size) < 0.7, references, generator.integers(0, classes, size))
    columns = [predictions, references]
    if "str" in container:
        columns = [LABELS[column] for column in columns]
    return [column.tolist() if "list" in container else column for column in columns]


def time_in_turns(contenders, predictions, references, repeats, budget):
    """Return the median seconds of each contender; one that has used up its budget is not run again."""
    times = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, function in contenders.items():
            if sum(times[name]) < budget:
                start = time.perf_counter()
                found = function(predictions=predictions, references=references)
                times[name].append(time.perf_counter() - start)
                if name == "scikit-learn":
                    expected = found
                difference = max(abs(found[key] - expected[key]) for key in NAMES if key in found)
                assert difference < 1e-12, f"{name} differs from scikit-learn by {difference}"
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max", type=float, default=1e6, help="largest number of labels (default 1e6)")
    parser.add_argument("--max-slow", type=float, default=1e6, help="largest for evaluate's three, and for any on str")
    parser.add_argument("--classes", type=int, default=4, choices=range(2, len(LABELS) + 1))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--budget", type=float, default=10, help="seconds for the repeats of one contender")
    arguments = parser.parse_args()

    table = Table(title=f"Median milliseconds, {arguments.classes} classes")
    for column in ("labels", "n", "function", "module", "scikit-learn", "evaluate's 3"):
        table.add_column(column, justify="left" if column == "labels" else "right")
    for column in ("function / scikit-learn", "module / scikit-learn", "module / evaluate's 3"):
        table.add_column(column.replace("/", "vs"), justify="right")
    sizes = [10**power for power in range(3, 10) if 10**power <= arguments.max]
    cases = [(container, size) for container in ("int array", "int list", "str array", "str list") for size in sizes]
    with tempfile.TemporaryDirectory() as cache:
        module = MacroPrf(cache_dir=cache)
        three = [kind(cache_dir=cache) for kind in (Precision, Recall, F1)]
        for container, size in track(cases, "Timing", transient=True):
            slow = size <= arguments.max_slow
            if "str" in container and not slow:
                continue
            contenders = {"scikit-learn": scikit_learn, "function": macro_prf, "module": module.compute}
            if "int" in container and slow:
                contenders["three"] = lambda **columns: {m.name: m.compute(**columns)[m.name] for m in three}
            columns = labelled(size, arguments.classes, container)
            seconds = time_in_turns(contenders, *columns, arguments.repeats, arguments.budget)
            ratios = [
                seconds[peer] / seconds[own] if peer in seconds else None
                for own, peer in (("function", "scikit-learn"), ("module", "scikit-learn"), ("module", "three"))
            ]
            times = [seconds.get(name) for name in ("function", "module", "scikit-learn", "three")]
            table.add_row(
                container,
                f"{size:,}",
                *("" if value is None else f"{1000 * value:,.2f}" for value in times),
                *("" if value is None else f"{value:,.0f}x" for value in ratios),
            )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
