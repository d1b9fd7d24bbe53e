"""PHEME (Zubiaga et al. 2016), the five-event release."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.paper import CITATION, HOMEPAGE, paper_url
from temporal_rumors.sources.table import Table

EVENT_BY_MONTH = {
    "2014-08": "ferguson",
    "2014-10": "ottawashooting",
    "2014-12": "sydneysiege",
    "2015-01": "charliehebdo",
    "2015-03": "germanwings-crash",
}

BENCHMARKS = (
    Benchmark(
        name="pheme_temporal",
        title="PHEME",
        language="en",
        description=(
            "Source tweets about five breaking news events, August 2014 to March 2015, labelled by journalists as "
            "rumour or not, with HTTPURL and @USER in place of most links and mentions. The events do not overlap in "
            "time, so the month of a post gives its event."
        ),
        citation=CITATION
        + """
@article{zubiaga-etal-2016-analysing,
  title = {Analysing How People Orient to and Spread Rumours in Social Media by Looking at Conversational Threads},
  author = {Zubiaga, Arkaitz and Liakata, Maria and Procter, Rob and Wong Sak Hoi, Geraldine and Tolmie, Peter},
  journal = {PLoS ONE},
  volume = {11},
  number = {3},
  year = {2016},
}""",
        homepage=HOMEPAGE,
        license="not stated upstream; the original release is CC BY 4.0; tweets belong to their authors",
        classes=("non-rumour", "rumour"),
        source=Table(
            file=SourceFile(
                name="pheme_2603.csv",
                sha256="652ee406a04fd73673be0ccf749fdda73a0051f1c9e29e29692f20af47d221e9",
                url=paper_url("pheme_2603.csv"),
            ),
            label="labels",
            labels={"0": "non-rumour", "1": "rumour"},
            time="time",
            # Checked: the column is within a second of the time in the id.
            zone="UTC",
            event_by_month=EVENT_BY_MONTH,
        ),
        counts={"non-rumour": 3830, "rumour": 1972},
        events=tuple(sorted(EVENT_BY_MONTH.values())),
        cuts={
            "chrono": (4061, 580, 1161),
            # The paper prints 394 test rumours; the other five cells and the data leave 395.
            "chrono_stratified": {"rumour": (1380, 197, 395), "non-rumour": (2681, 383, 766)},
        },
    ),
)
