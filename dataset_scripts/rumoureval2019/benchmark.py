"""RumourEval 2019 (SemEval-2019 task 7, Gorrell et al. 2019), English."""

from typing import Any

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.metrics.rumoureval.scoring import LABELS
from temporal_rumors.sources.rumoureval import COLUMNS, Key, RumourEval, Tree

TITLE = "RumourEval 2019"
URL = "https://figshare.com/articles/dataset/RumourEval_2019_data/8845580"
CITATION = """@inproceedings{gorrell-etal-2019-semeval,
  title = {SemEval-2019 Task 7: RumourEval, Determining Rumour Veracity and Support for Rumours},
  author = {Gorrell, Genevieve and Kochkina, Elena and Liakata, Maria and Aker, Ahmet and Zubiaga, Arkaitz and
    Bontcheva, Kalina and Derczynski, Leon},
  booktitle = {Proceedings of SemEval-2019},
  year = {2019},
}"""
LICENSE = "see the homepage; posts belong to their authors"
EVENTS = (
    "afghanistan",
    "african-american",
    "ark-park",
    "barbara-bush",
    "blm-hurricane",
    "cape-tornadoes",
    "charliehebdo",
    "clinton-ads",
    "clinton-florida",
    "cnn-lies",
    "ebola-essien",
    "ferguson",
    "fire-ants",
    "fukushima-dump",
    "fukushima-falling",
    "germanwings-crash",
    "harvey-donations",
    "illary",
    "immigrants-wildfires",
    "inflatable-dam",
    "irma-cat-6",
    "lawn-tornado",
    "lightning-river",
    "mississippi-dry",
    "nat-geo-footage",
    "obama-harvey",
    "osteen-yacht",
    "ottawashooting",
    "pence-sacrifice",
    "prince-toronto",
    "putinmissing",
    "red-cross",
    "shark-hurricane",
    "sydneysiege",
    "texas-mosque",
    "virgin-weapons",
    "wildfires-deduction",
)


CONTAINERS = frozenset(
    {"twitter-english", "reddit-training-data", "reddit-dev-data", "twitter-en-test-data", "reddit-test-data"}
)
KEYS = (
    Key("train", "train-key.json"),
    Key("validation", "dev-key.json"),
    Key("test", "final-eval-key.json", beside=True),
)


def benchmark(task: str, sha256: str, **what: Any) -> Benchmark:
    """Return the benchmark of a task."""
    return Benchmark(
        name="rumoureval2019",
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
            folder="rumoureval2019",
            task=task,
            sha256=sha256,
            trees=(Tree(("rumoureval-2019-training-data",)), Tree(("rumoureval-2019-test-data",))),
            containers=CONTAINERS,
            keys=KEYS,
        ),
        events=EVENTS,
        columns=COLUMNS[task],
        edition="2019",
        **what,
    )


BENCHMARKS = (
    benchmark(
        "stance",
        "0628e9140cde0e38556d21f52e9426ec01a58ba6c6bf159144020a31608f2bc6",
        description=(
            "Posts of Twitter and Reddit in conversations about rumours, each labelled with its stance towards the "
            "rumour: whether it supports, denies or queries it, or comments on it. The English part of the shared task."
        ),
        counts={"support": 1184, "deny": 561, "query": 608, "comment": 6176},
        official={
            "train": {"support": 925, "deny": 378, "query": 395, "comment": 3519},
            "validation": {"support": 102, "deny": 82, "query": 120, "comment": 1181},
            "test": {"support": 157, "deny": 101, "query": 93, "comment": 1476},
        },
        texts=("text", "parent_text", "source_text"),
        metrics=("accuracy", "f1"),
    ),
    benchmark(
        "veracity",
        "bc7c1e80ab401a4ba09e85c98804141f7292e4027c345019d7bb67f175c87e26",
        description=(
            "Posts of Twitter and Reddit that start conversations, each with its replies, labelled with the veracity "
            "of their rumour. The English part of the shared task."
        ),
        counts={"true": 185, "false": 138, "unverified": 123},
        official={
            "train": {"true": 144, "false": 79, "unverified": 104},
            "validation": {"true": 10, "false": 19, "unverified": 9},
            "test": {"true": 31, "false": 40, "unverified": 10},
        },
        metrics=("accuracy", "f1", "confidence_rmse"),
    ),
)
