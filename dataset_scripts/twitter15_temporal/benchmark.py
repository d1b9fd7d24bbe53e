"""Twitter15 (Ma et al. 2017), its true and false rumours."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.paper import CITATION, CITATION_TWITTER, HOMEPAGE, paper_url
from temporal_rumors.sources.table import Table

BENCHMARKS = (
    Benchmark(
        name="twitter15_temporal",
        title="Twitter15",
        language="en",
        description=(
            "The true and the false rumours of Twitter15: source tweets checked by fact-checking sites, 2011 to 2015, "
            "lower-cased, with URL in place of links; mentions are as they were. The time of a tweet is that in its id."
        ),
        citation=f"{CITATION}\n{CITATION_TWITTER}",
        homepage=HOMEPAGE,
        license="not stated upstream; tweets belong to their authors",
        classes=("false", "true"),
        source=Table(
            file=SourceFile(
                name="tw15.csv",
                sha256="f9e3a174de3364ca6ea3bd4751012da6bd66ad97c0c9b7dc788f095ba15ed685",
                url=paper_url("tw15.csv"),
            ),
            labels={"0": "false", "1": "true"},
        ),
        counts={"false": 370, "true": 372},
        cuts={
            "chrono": (519, 75, 148),
            "chrono_stratified": {"true": (260, 37, 75), "false": (259, 37, 74)},
        },
    ),
)
