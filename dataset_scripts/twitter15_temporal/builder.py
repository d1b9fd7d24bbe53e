"""The `datasets` builder of twitter15_temporal."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.twitter15_temporal.benchmark import BENCHMARKS


class Twitter15Temporal(TemporalBuilder):
    """Builds twitter15_temporal, one configuration a protocol."""

    BENCHMARKS = BENCHMARKS
