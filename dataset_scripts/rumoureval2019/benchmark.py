"""RumourEval 2019 (SemEval-2019 task 7, Gorrell et al. 2019), English."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.rumoureval import COLUMNS, STANCE_CLASSES, VERACITY_CLASSES, Key, RumourEval

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


def source(task: str, sha256: str) -> RumourEval:
    """Return where the conversations and the keys are."""
    return RumourEval(
        name=TITLE,
        url=URL,
        folder="rumoureval2019",
        task=task,
        sha256=sha256,
        trees=(("rumoureval-2019-training-data",), ("rumoureval-2019-test-data",)),
        containers=frozenset(
            {
                "twitter-english",
                "reddit-training-data",
                "reddit-dev-data",
                "twitter-en-test-data",
                "reddit-test-data",
            }
        ),
        keys=(
            Key("train", "train-key.json"),
            Key("validation", "dev-key.json"),
            Key("test", "final-eval-key.json", beside=True),
        ),
    )


STANCE = Benchmark(
    name="rumoureval2019",
    task="stance",
    title=f"{TITLE} stance",
    language="en",
    description=(
        "Posts of Twitter and Reddit in conversations about rumours, each labelled with its stance towards the rumour: "
        "whether it supports, denies or queries it, or comments on it. The English part of the shared task."
    ),
    citation=CITATION,
    homepage=URL,
    license=LICENSE,
    classes=STANCE_CLASSES,
    source=source("stance", "0628e9140cde0e38556d21f52e9426ec01a58ba6c6bf159144020a31608f2bc6"),
    counts={"support": 1184, "deny": 561, "query": 608, "comment": 6176},
    official={
        "train": {"support": 925, "deny": 378, "query": 395, "comment": 3519},
        "validation": {"support": 102, "deny": 82, "query": 120, "comment": 1181},
        "test": {"support": 157, "deny": 101, "query": 93, "comment": 1476},
    },
    events=EVENTS,
    columns=COLUMNS["stance"],
    texts=("text", "parent_text", "source_text"),
    edition="2019",
    metrics=("accuracy", "f1"),
)
VERACITY = Benchmark(
    name="rumoureval2019",
    task="veracity",
    title=f"{TITLE} veracity",
    language="en",
    description=(
        "Posts of Twitter and Reddit that start conversations, each with its replies, labelled with the veracity of "
        "their rumour. The English part of the shared task."
    ),
    citation=CITATION,
    homepage=URL,
    license=LICENSE,
    classes=VERACITY_CLASSES,
    source=source("veracity", "bc7c1e80ab401a4ba09e85c98804141f7292e4027c345019d7bb67f175c87e26"),
    counts={"true": 185, "false": 138, "unverified": 123},
    official={
        "train": {"true": 144, "false": 79, "unverified": 104},
        "validation": {"true": 10, "false": 19, "unverified": 9},
        "test": {"true": 31, "false": 40, "unverified": 10},
    },
    events=EVENTS,
    columns=COLUMNS["veracity"],
    edition="2019",
    metrics=("accuracy", "f1", "confidence_rmse"),
)
BENCHMARKS = (STANCE, VERACITY)
