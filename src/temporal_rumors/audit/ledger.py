"""The ledger of a split: for each leak how many test posts it touches, with examples, for people, JSON and HTML."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from temporal_rumors import benchmark as registry
from temporal_rumors import macro_prf, protocols
from temporal_rumors._version import __version__
from temporal_rumors.audit import examples as shown
from temporal_rumors.audit import leaks as find
from temporal_rumors.audit.examples import SAME, TEST_ONLY, TRAINING_ONLY, Example
from temporal_rumors.audit.leaks import NEAR_COPY, Sample
from temporal_rumors.audit.neighbours import EXCLUDE, THRESHOLD, is_short
from temporal_rumors.audit.samples import DEFAULTS, order_of, read_sample, take
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.records import json_digest, objects
from temporal_rumors.signature import compose
from temporal_rumors.templates import template

if TYPE_CHECKING:
    from datasets import Dataset
    from pandas import DataFrame
    from rich.console import RenderableType
    from rich.text import Text

TRAIN, VALIDATION, TEST = protocols.PARTS
_SIDES = {TRAIN: "training", VALIDATION: "validation", TEST: "test"}
ABSENT_CLASS, TIME_ALONE = "absent_class", "time_alone"
N_EXAMPLES = 3

_TEMPLATE = Path(__file__).with_name("ledger.html.jinja")
# A leaf of the tree that predicts from time alone: fewer posts would be single accidents.
_LEAF = 5
_CONDITION = re.compile(r"\s*(\w+)\s*(>=|>)\s*(\d+(?:\.\d+)?)\s*(%?)\s*", re.ASCII)
_COMPARE: dict[str, Callable[[float, float], bool]] = {">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, eq=False)
class Entry:
    """What one leak touches.

    Attributes:
        leak: its name, one of `leaks.NAMES`.
        what: what it counts, in a line.
        n_test: test posts touched.
        n_train: training posts concerned.
        share: test posts touched / all test posts.
        agree: how many of the touched have the label of most of their (nearest) training partners, or None.
        examples: a few, from the nearest to the furthest copies.
        rows: (n_test,) int64, sorted: the rows of the test part, as it was given, that are touched.
    """

    leak: str
    what: str
    n_test: int
    n_train: int
    share: float
    agree: int | None
    examples: tuple[Example, ...]
    rows: np.ndarray


@dataclass(frozen=True)
class TimeAlone:
    """How well the time of a post predicts its class: a decision tree on time, fitted on training posts.

    Attributes:
        f1, majority_f1: macro-F1 on the test posts in percent, of the tree, and of the most frequent training class.
        n_train, n_test: posts with a time.
    """

    f1: float
    majority_f1: float
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class Ledger:
    """All that leaks from training to test posts.

    Attributes:
        benchmark, task, protocol: None for data sets of one's own.
        sizes: part -> posts.
        short: part -> posts too short for the threshold to mean anything.
        short_masked: the same without links and mentions, which masks make alike.
        threshold, short_texts: how near copies were looked for.
        entries: the leaks that could be looked for, in the order of `leaks.NAMES`.
        time_alone: None where times or labels are not known, or labels are of one class.
        absent: part -> classes of which it holds no post, of a benchmark also the validation part; None without labels.
        not_checked: leak -> why it could not be looked for.
        split_digest: of the ids of each part, where posts have ids.
        data_digest: of what was read, all columns.
        signature: names the data, the split and the options, in a line.
        remarks: what reading the data dropped or mended, and what the split does not guarantee.
    """

    benchmark: str | None
    task: str | None
    protocol: str | None
    sizes: Mapping[str, int]
    short: Mapping[str, int]
    short_masked: Mapping[str, int]
    threshold: float
    short_texts: str
    entries: tuple[Entry, ...]
    time_alone: TimeAlone | None
    absent: Mapping[str, Sequence[str]] | None
    not_checked: Mapping[str, str]
    split_digest: str | None
    data_digest: str
    signature: str
    remarks: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What was audited."""
        return " ".join(filter(None, (self.benchmark, self.task, self.protocol))) or "training against test posts"

    def entry(self, leak: str) -> Entry:
        """Return the entry of a leak.

        Raises:
            UserError: no such leak, or it was not looked for.
        """
        for entry in self.entries:
            if entry.leak == leak:
                return entry
        raise UserError(self._no_value(leak))

    def fails(self, condition: str) -> bool:
        """Return whether a condition holds, such as "near_copy>0", "near_copy>=5%" or "time_alone>60".

        Args:
            condition: a leak, `>` or `>=`, and a number of test posts, or a share of them with %. Also "absent_class",
                the number of classes that a part lacks, summed over the parts, and "time_alone", the macro-F1 of time
                alone in percent.

        Raises:
            UserError: not of this form, no such leak, or one that was not looked for: nothing could ever fail then.
        """
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise UserError(
                f"the condition {condition!r} is not understood: expected a leak, > or >=, and a number of test posts "
                "or a percentage of them, such as near_copy>0 or near_copy>5%"
            )
        name, sign, number, percent = match.groups()
        value: float
        if name == TIME_ALONE and self.time_alone is not None:
            value = self.time_alone.f1
        elif name == ABSENT_CLASS and self.absent is not None:
            if percent:
                raise UserError(f"the condition {condition!r} has a percentage, but {name} is a number of classes")
            value = sum(map(len, self.absent.values()))
        else:
            entry = self.entry(name)
            value = 100 * entry.n_test / self.sizes[TEST] if percent else entry.n_test
        return _COMPARE[sign](value, float(number))

    def _no_value(self, name: str) -> str:
        if name in self.not_checked:
            return f"{name} was not checked: {self.not_checked[name]}"
        return unknown("leak", name, [*find.NAMES, ABSENT_CLASS, TIME_ALONE])

    def to_json(self) -> dict[str, Any]:
        """Return the ledger as JSON holds it; the same for the same posts in any order."""
        return {
            "benchmark": self.benchmark,
            "task": self.task,
            "protocol": self.protocol,
            "parts": {
                part: {"posts": n, "short": self.short[part], "short_masked": self.short_masked[part]}
                for part, n in self.sizes.items()
            },
            "threshold": self.threshold,
            "short_texts": self.short_texts,
            "leaks": [
                {
                    "leak": entry.leak,
                    "what": entry.what,
                    "test_posts": entry.n_test,
                    "share": entry.share,
                    "train_posts": entry.n_train,
                    "agree": entry.agree,
                    "examples": [
                        {**vars(example), "spans": [list(span) for span in example.spans]} for example in entry.examples
                    ],
                }
                for entry in self.entries
            ],
            "time_alone": None if self.time_alone is None else vars(self.time_alone),
            "absent": None if self.absent is None else {part: list(names) for part, names in self.absent.items()},
            "not_checked": dict(self.not_checked),
            "split_digest": self.split_digest,
            "data_digest": self.data_digest,
            "signature": self.signature,
            "remarks": list(self.remarks),
        }


def audit_benchmark(
    benchmark: str | Benchmark,
    protocol: str,
    data_dir: str | os.PathLike[str] | None = None,
    allow_modified: bool = False,
    *,
    task: str | None = None,
    threshold: float = THRESHOLD,
    short: str = EXCLUDE,
    examples: int = N_EXAMPLES,
) -> Ledger:
    """Return the ledger of a benchmark under a protocol.

    Args:
        benchmark: its name, or the benchmark.
        protocol: how it is split.
        data_dir: as for `Benchmark.posts`.
        allow_modified: as for `Benchmark.posts`.
        task: of a benchmark that has several; None takes the first.
        threshold: as for `near_duplicates`.
        short: as for `near_duplicates`.
        examples: how many to give of each leak, at most.

    Raises:
        UserError: as `benchmark.get`, `Benchmark.posts`, `Benchmark.split` and `near_duplicates`.
    """
    b = benchmark if isinstance(benchmark, Benchmark) else registry.get(benchmark, task)
    b.config(protocol)
    posts = b.posts(data_dir, allow_modified=allow_modified)
    split = b.split(posts, protocol)
    train, test = (
        replace(sample, labels=objects([b.classes[code] for code in posts.labels[rows]]))
        for sample, rows in ((find.sample_of(posts, rows), rows) for rows in (split.train, split.test))
    )
    digest = split.digest(posts.ids)
    signature = {
        "benchmark": f"{b.name}@{b.version}",
        **({"task": b.task} if b.task else {}),
        "protocol": protocol,
        "classes": ",".join(b.classes),
        "data": posts.digest[:8],
        "split": digest[:8],
    }
    return _ledger(
        train,
        test,
        threshold,
        short,
        examples,
        classes=b.classes,
        signature=signature,
        benchmark=b.name,
        task=b.task,
        protocol=protocol,
        split_digest=digest,
        data_digest=posts.digest,
        validation=set(posts.labels[split.validation].tolist()),
        remarks=[*posts.remarks(), *b.report(posts, split).warnings(skip=("newer", "absent"))],
    )


def audit_splits(
    train: Dataset | DataFrame | Sequence[str],
    test: Dataset | DataFrame | Sequence[str],
    *,
    threshold: float = THRESHOLD,
    short: str = EXCLUDE,
    text_column: str = DEFAULTS["text_column"],
    label_column: str | None = DEFAULTS["label_column"],
    id_column: str | None = DEFAULTS["id_column"],
    time_column: str | None = DEFAULTS["time_column"],
    event_column: str | None = DEFAULTS["event_column"],
    thread_column: str | None = DEFAULTS["thread_column"],
    author_column: str | None = DEFAULTS["author_column"],
    time_zone: str | None = None,
    examples: int = N_EXAMPLES,
) -> Ledger:
    """Return the ledger of any two data sets: what leaks from the training posts to the test posts.

    A column that is not there is not checked, and the ledger says so; one whose name you give must be there.

    Args:
        train: one post a row, or texts alone.
        test: likewise.
        threshold: as for `near_duplicates`.
        short: as for `near_duplicates`.
        text_column: the posts.
        label_column: text, integers or booleans, none missing; None leaves a column out, here and below.
        id_column: text or integers, none missing, unique within a part.
        event_column: text or integers.
        thread_column: text or integers.
        author_column: text or integers.
        time_column: as for `temporal_rumors.split`.
        time_zone: IANA name of the zone in which times without one are meant; None refuses such times.
        examples: how many to give of each leak, at most.

    Raises:
        UserError: no posts, a text that is none, a column that you name and that is not there, cells that are not
            understood, labels of two kinds, and as `near_duplicates`.
    """
    columns = {
        "text_column": text_column,
        "id_column": id_column,
        "label_column": label_column,
        "time_column": time_column,
        "event_column": event_column,
        "thread_column": thread_column,
        "author_column": author_column,
    }
    sides = [read_sample(data, _SIDES[part], columns, time_zone) for part, data in ((TRAIN, train), (TEST, test))]
    kinds = [type(side.labels[0]).__name__ for side in sides if side.labels is not None]
    if len(set(kinds)) > 1:
        raise UserError(
            f"the labels of the training posts are {kinds[0]}, those of the test posts {kinds[1]}: write them alike, "
            "or leave them out with label_column=None"
        )
    orders = [order_of(side) for side in sides]
    sorted_train, sorted_test = (take(side, rows) for side, rows in zip(sides, orders, strict=True))
    split_digest = None
    if sides[0].ids is not None and sides[1].ids is not None:
        # As Split.digest, so that a benchmark's parts of which the validation part is missing differ from the whole.
        split_digest = json_digest([sorted(side.ids) for side in sides if side.ids is not None])
    # All that was read: links are read from the texts, and times are written out.
    data_digest = json_digest(
        [
            [None if values is None else [str(value) for value in values] for values in vars(side).values()]
            for side in (sorted_train, sorted_test)
        ]
    )
    signature = {"data": data_digest[:8], **({"split": split_digest[:8]} if split_digest else {})}
    ledger = _ledger(
        sorted_train,
        sorted_test,
        threshold,
        short,
        examples,
        classes=(),
        signature=signature,
        benchmark=None,
        task=None,
        protocol=None,
        split_digest=split_digest,
        data_digest=data_digest,
    )
    entries = tuple(replace(entry, rows=np.sort(orders[1][entry.rows])) for entry in ledger.entries)
    return replace(ledger, entries=entries)


def _ledger(
    train: Sample,
    test: Sample,
    threshold: float,
    short: str,
    n_examples: int,
    *,
    classes: Sequence[Any],
    signature: Mapping[str, Any],
    validation: set[int] | None = None,
    **subject: Any,
) -> Ledger:
    if isinstance(n_examples, bool) or not isinstance(n_examples, int) or n_examples < 0:
        raise UserError(f"examples must be an integer from 0 on, found {n_examples!r}")
    found = find.find_leaks(train, test, threshold, short)
    not_checked = find.not_checked(train, test)
    raw = {leak.name: leak for leak in found}[NEAR_COPY]
    absent = None
    if train.labels is None or test.labels is None:
        not_checked[ABSENT_CLASS] = "no labels"
    else:
        classes = classes or sorted({*train.labels, *test.labels})
        labels = {TRAIN: set(train.labels), TEST: set(test.labels)}
        if validation is not None:
            labels = {TRAIN: labels[TRAIN], VALIDATION: {classes[code] for code in validation}, TEST: labels[TEST]}
        absent = {part: [str(name) for name in classes if name not in held] for part, held in labels.items()}
    time_alone = _time_alone(train, test, classes)
    if time_alone is None:
        not_checked[TIME_ALONE] = "it takes times and labels on both sides"
    sides = (TRAIN, train), (TEST, test)
    sizes = {part: len(side) for part, side in sides}
    threshold = threshold.item() if isinstance(threshold, np.generic) else threshold
    options = {"threshold": threshold, "short": short, "train": len(train), "test": len(test), "version": __version__}
    return Ledger(
        sizes=sizes,
        short={part: int(is_short(side.texts, threshold).sum()) for part, side in sides},
        short_masked={part: int(find.is_short_masked(side.texts, threshold).sum()) for part, side in sides},
        threshold=threshold,
        short_texts=short,
        entries=tuple(
            Entry(
                leak=leak.name,
                what=leak.what,
                n_test=len(leak.touched),
                n_train=leak.n_train,
                share=len(leak.touched) / len(test),
                agree=leak.agree,
                examples=tuple(shown.examples(leak, raw, train, test, n_examples)),
                rows=leak.touched,
            )
            for leak in found
        ),
        time_alone=time_alone,
        absent=absent,
        not_checked=not_checked,
        signature=compose({**signature, **options}),
        **subject,
    )


def _time_alone(train: Sample, test: Sample, classes: Sequence[Any]) -> TimeAlone | None:
    """Score the prediction from time alone; None where times or labels are not known."""
    if train.times is None or test.times is None or train.labels is None or test.labels is None:
        return None
    from sklearn.tree import DecisionTreeClassifier

    known, test_known = ~np.isnat(train.times), ~np.isnat(test.times)
    times, test_times = train.times[known], test.times[test_known]
    codes = {name: code for code, name in enumerate(classes)}
    given = [codes[label] for label in train.labels[known]]
    expected = [codes[label] for label in test.labels[test_known]]
    # Ranks, since the tree keeps 24 bits of a number: even for the times of training posts, odd between them.
    distinct = np.unique(times)
    ranks, test_ranks = (
        (np.searchsorted(distinct, values) + np.searchsorted(distinct, values, "right"))[:, None]
        for values in (times, test_times)
    )
    tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=0).fit(ranks, given)
    majority = int(np.bincount(given).argmax())

    def f1(predictions: list[int]) -> float:
        scores = macro_prf(predictions=predictions, references=expected, labels=list(range(len(codes))))
        return 100 * float(scores["f1"])

    return TimeAlone(f1(tree.predict(test_ranks).tolist()), f1([majority] * len(expected)), len(given), len(expected))


def tables(ledger: Ledger) -> list[RenderableType]:
    """Lay out a ledger for the terminal, in 80 columns.

    Returns:
        What rich prints, in order.
    """
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("leak", no_wrap=True)
    for column in ("test posts", "share", "training posts", "label agrees"):
        table.add_column(column, justify="right", no_wrap=True)
    for entry in ledger.entries:
        table.add_row(entry.leak, f"{entry.n_test:,}", _percent(entry.share), f"{entry.n_train:,}", _agree(entry))
    blocks: list[RenderableType] = [Text(_head(ledger), style="bold"), table]
    blocks += [Padding(Text(line), (0, 0, 0, 2)) for line in sentences(ledger)]
    if any(example.spans for entry in ledger.entries for example in entry.examples):
        blocks.append(Padding(Text("[-in the training post alone-] {+in the test post alone+}"), (1, 0, 0, 2)))
    for entry in ledger.entries:
        for example in entry.examples:
            blocks.append(Padding(Text(_caption(entry, example), style="bold"), (1, 0, 0, 2)))
            if example.spans:
                blocks.append(Padding(_marked(example), (0, 0, 0, 2)))
    return [*blocks, Text("")]


def sentences(ledger: Ledger) -> list[str]:
    """Say what the ledger holds beside the counts: time alone, classes, short texts, and what was not checked."""
    lines = []
    if (probe := ledger.time_alone) is not None:
        lines.append(
            f"time alone predicts the class with macro-F1 {probe.f1:.1f}; the most frequent class scores "
            f"{probe.majority_f1:.1f}"
        )
    for part, names in (ledger.absent or {}).items():
        if names:
            lines.append(f"no {' and no '.join(map(visible, names))} post in the {_SIDES[part]} part")
    done = "left out of" if ledger.short_texts == EXCLUDE else "counted in"
    for counts, what in ((ledger.short, "near copies"), (ledger.short_masked, "masked ones")):
        if short := [f"{n:,} {_SIDES[part]}" for part, n in counts.items() if n]:
            lines.append(f"too short for the threshold, and {done} {what}: {' and '.join(short)} posts")
    if ledger.not_checked:
        lines.append(f"not checked: {', '.join(f'{leak} ({why})' for leak, why in ledger.not_checked.items())}")
    return lines + [remark for remark in ledger.remarks if not any(line in remark for line in lines)]


def section(ledger: Ledger) -> str:
    """Return a ledger as an HTML section, a part of a page; all that posts hold is escaped."""
    return template(_TEMPLATE).render(
        ledger=ledger,
        head=_head(ledger),
        sentences=sentences(ledger),
        percent=_percent,
        agree=_agree,
        caption=_caption,
        visible=visible,
    )


def _head(ledger: Ledger) -> str:
    return (
        f"{ledger.title}: {ledger.sizes[TRAIN]:,} training, {ledger.sizes[TEST]:,} test posts; near copies within "
        f"{ledger.threshold:g}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _agree(entry: Entry) -> str:
    return "-" if entry.agree is None else f"{entry.agree:,} of {entry.n_test:,}"


def _caption(entry: Entry, example: Example) -> str:
    """What the two posts of an example are."""
    labels = [example.test_label, example.train_label]
    sides = [
        " ".join(filter(None, (side, id and visible(id), label and f"({visible(label)})")))
        for side, id, label in zip(("test", "training"), (example.test_id, example.train_id), labels, strict=True)
    ]
    detail = f"distance {example.distance}" if example.distance is not None else visible(example.shared or "")
    return f"{entry.leak}, {detail}: {', '.join(sides)}"


def _marked(example: Example) -> Text:
    from rich.text import Text

    marks = {SAME: ("", "", ""), TRAINING_ONLY: ("[-", "-]", "red"), TEST_ONLY: ("{+", "+}", "green")}
    text = Text()
    for kind, span in example.spans:
        before, after, style = marks[kind]
        shown = visible(span)
        blank = " " * (len(shown) - len(shown.rstrip())) if before else ""
        text.append(f"{before}{shown.rstrip() if before else shown}{after}{blank}", style=style)
    return text


def visible(text: str) -> str:
    """Return text without what moves the cursor, turns the writing around or cannot be written as UTF-8."""
    # Joiners hold families of emoji together.
    return "".join(
        char if char.isprintable() or char == "\u200d" else " " if char.isspace() else ascii(char)[1:-1]
        for char in text
    )
