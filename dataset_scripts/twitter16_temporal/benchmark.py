"""Twitter16 (Ma et al. 2017), its true and false rumours."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.paper import CITATION, CITATION_TWITTER, HOMEPAGE, paper_url
from temporal_rumors.sources.table import Table

BENCHMARKS = (
    Benchmark(
        name="twitter16_temporal",
        title="Twitter16",
        language="en",
        description=(
            "The true and the false rumours of Twitter16: source tweets checked by fact-checking sites, 2014 to 2015, "
            "lower-cased, with URL in place of links; mentions are as they were. The time of a tweet is that in its id."
        ),
        citation=f"{CITATION}\n{CITATION_TWITTER}",
        homepage=HOMEPAGE,
        license="not stated upstream; tweets belong to their authors",
        classes=("false", "true"),
        source=Table(
            file=SourceFile(
                name="tw16.csv",
                sha256="8f69c904a5167136b5a84a319c50fa33c0201c7d9351cb898d4812f31f3c8620",
                url=paper_url("tw16.csv"),
            ),
            labels={"0": "false", "1": "true"},
        ),
        counts={"false": 205, "true": 207},
        cuts={"chrono_stratified": {"true": (144, 21, 42), "false": (144, 21, 40)}},
    ),
)
