"""RumourEval 2017 (SemEval-2017 task 8, Derczynski et al. 2017)."""

from typing import Any

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.metrics.rumoureval.scoring import LABELS
from temporal_rumors.sources.rumoureval import COLUMNS, Key, RumourEval, Tree

TITLE = "RumourEval 2017"
URL = "https://alt.qcri.org/semeval2017/task8/"
CITATION = """@inproceedings{derczynski-etal-2017-semeval,
  title = {SemEval-2017 Task 8: RumourEval: Determining rumour veracity and support for rumours},
  author = {Derczynski, Leon and Bontcheva, Kalina and Liakata, Maria and Procter, Rob and Wong Sak Hoi, Geraldine
    and Zubiaga, Arkaitz},
  booktitle = {Proceedings of SemEval-2017},
  year = {2017},
}"""
LICENSE = "not stated upstream; tweets belong to their authors"
EVENTS = (
    "charliehebdo",
    "ebola-essien",
    "ferguson",
    "germanwings-crash",
    "illary",
    "ottawashooting",
    "prince-toronto",
    "putinmissing",
    "sydneysiege",
)
# The test tree has no events. Those of its 28 threads stand in the 2019 release, which holds them again; their months
# tell them apart.
EVENT_BY_MONTH = (
    ("2014-08", "ferguson"),
    ("2014-10", "ottawashooting"),
    ("2014-12", "sydneysiege"),
    ("2015-01", "charliehebdo"),
    ("2015-03", "germanwings-crash"),
    ("2016-07", "illary"),
    ("2016-08", "illary"),
    ("2016-09", "illary"),
)


TREES = (
    Tree(("semeval2017-task8-dataset",)),
    # Its archive holds a folder of the second name.
    Tree(("rumoureval2017-test", "semeval2017-task8-test-data"), EVENT_BY_MONTH),
)
KEYS = tuple(
    key
    for task, letter in (("stance", "A"), ("veracity", "B"))
    for key in (
        Key("train", f"rumoureval-subtask{letter}-train.json", tasks=(task,)),
        Key("validation", f"rumoureval-subtask{letter}-dev.json", tasks=(task,)),
        Key("test", f"subtask{letter.lower()}.json", beside=True, tasks=(task,)),
    )
)


def benchmark(task: str, sha256: str, **what: Any) -> Benchmark:
    """Return the benchmark of a task."""
    return Benchmark(
        name="rumoureval2017",
        task=task,
        title=f"{TITLE} {task}",
        language="en",
        citation=CITATION,
        homepage=URL,
        license=LICENSE,
        classes=LABELS[task],
        source=RumourEval(
            name=TITLE,
            url=URL,
            folder="rumoureval2017",
            task=task,
            sha256=sha256,
            trees=TREES,
            containers=frozenset({"rumoureval-data", "rumoureval2017-test", "semeval2017-task8-test-data"}),
            keys=KEYS,
        ),
        events=EVENTS,
        columns=COLUMNS[task],
        edition="2017",
        **what,
    )


BENCHMARKS = (
    benchmark(
        "stance",
        "505ef2f6cb38b64f9ab0f7bdf1a738dc1f996e667fc6302dafca618960e2cf76",
        description=(
            "Tweets in conversations about rumours, each labelled with its stance towards the rumour: whether it "
            "supports, denies or queries it, or comments on it."
        ),
        counts={"support": 1004, "deny": 415, "query": 464, "comment": 3685},
        official={
            "train": {"support": 841, "deny": 333, "query": 330, "comment": 2734},
            "validation": {"support": 69, "deny": 11, "query": 28, "comment": 173},
            "test": {"support": 94, "deny": 71, "query": 106, "comment": 778},
        },
        texts=("text", "parent_text", "source_text"),
        metrics=("accuracy", "f1"),
    ),
    benchmark(
        "veracity",
        "95dafc122d699f07beb49789fc5730361226726ff6034777dd91d258239b1bba",
        description=(
            "Tweets that start conversations, each with its replies, labelled with the veracity of their rumour."
        ),
        counts={"true": 145, "false": 74, "unverified": 106},
        official={
            "train": {"true": 127, "false": 50, "unverified": 95},
            "validation": {"true": 10, "false": 12, "unverified": 3},
            "test": {"true": 8, "false": 12, "unverified": 8},
        },
        metrics=("accuracy", "f1", "confidence_rmse"),
    ),
)
