"""RumourEval 2017 (SemEval-2017 task 8, Derczynski et al. 2017)."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.rumoureval import COLUMNS, STANCE_CLASSES, VERACITY_CLASSES, Key, RumourEval

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


def source(task: str, letter: str, sha256: str) -> RumourEval:
    """Return where the conversations and the keys of a task are."""
    return RumourEval(
        name=TITLE,
        url=URL,
        folder="rumoureval2017",
        task=task,
        sha256=sha256,
        # The test archive holds a folder of the second name.
        trees=(("semeval2017-task8-dataset",), ("rumoureval2017-test", "semeval2017-task8-test-data")),
        containers=frozenset({"rumoureval-data", "rumoureval2017-test", "semeval2017-task8-test-data"}),
        keys=(
            Key("train", f"rumoureval-subtask{letter.upper()}-train.json"),
            Key("validation", f"rumoureval-subtask{letter.upper()}-dev.json"),
            Key("test", f"subtask{letter}.json", beside=True),
        ),
        event_by_month=EVENT_BY_MONTH,
    )


STANCE = Benchmark(
    name="rumoureval2017",
    task="stance",
    title=f"{TITLE} stance",
    language="en",
    description=(
        "Tweets in conversations about rumours, each labelled with its stance towards the rumour: whether it supports, "
        "denies or queries it, or comments on it."
    ),
    citation=CITATION,
    homepage=URL,
    license=LICENSE,
    classes=STANCE_CLASSES,
    source=source("stance", "a", "505ef2f6cb38b64f9ab0f7bdf1a738dc1f996e667fc6302dafca618960e2cf76"),
    counts={"support": 1004, "deny": 415, "query": 464, "comment": 3685},
    official={
        "train": {"support": 841, "deny": 333, "query": 330, "comment": 2734},
        "validation": {"support": 69, "deny": 11, "query": 28, "comment": 173},
        "test": {"support": 94, "deny": 71, "query": 106, "comment": 778},
    },
    events=EVENTS,
    columns=COLUMNS["stance"],
    texts=("text", "parent_text", "source_text"),
    edition="2017",
    metrics=("accuracy", "f1"),
)
VERACITY = Benchmark(
    name="rumoureval2017",
    task="veracity",
    title=f"{TITLE} veracity",
    language="en",
    description="Tweets that start conversations, each with its replies, labelled with the veracity of their rumour.",
    citation=CITATION,
    homepage=URL,
    license=LICENSE,
    classes=VERACITY_CLASSES,
    source=source("veracity", "b", "95dafc122d699f07beb49789fc5730361226726ff6034777dd91d258239b1bba"),
    counts={"true": 145, "false": 74, "unverified": 106},
    official={
        "train": {"true": 127, "false": 50, "unverified": 95},
        "validation": {"true": 10, "false": 12, "unverified": 3},
        "test": {"true": 8, "false": 12, "unverified": 8},
    },
    events=EVENTS,
    columns=COLUMNS["veracity"],
    edition="2017",
    metrics=("accuracy", "f1", "confidence_rmse"),
)
BENCHMARKS = (STANCE, VERACITY)
