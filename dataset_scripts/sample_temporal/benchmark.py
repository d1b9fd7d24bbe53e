"""The embedded sample: invented posts about invented events, written by make_posts.py."""

from pathlib import Path

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.table import Table

BENCHMARKS = (
    Benchmark(
        name="sample_temporal",
        title="Sample",
        language="en",
        description=(
            "Invented posts about invented events, with near copies and a vocabulary that drifts: a corpus on which "
            "the inflation of random splits shows within seconds. It says nothing about real rumours."
        ),
        citation="",
        homepage="",
        license="Apache-2.0",
        classes=("non-rumour", "rumour"),
        source=Table(
            file=SourceFile(
                name="posts.csv",
                sha256="fdb4aba2ff611518811c7dc52f0d00bfb6a1b546fb547acaf95403a52cb21770",
                path=Path(__file__).with_name("posts.csv"),
            ),
            labels={"non-rumour": "non-rumour", "rumour": "rumour"},
            time="created_at",
            event="event",
        ),
        counts={"non-rumour": 357, "rumour": 247},
        events=("bridge-closure", "harbour-fire", "metro-outage", "river-flood", "stadium-blackout", "zoo-escape"),
    ),
)
