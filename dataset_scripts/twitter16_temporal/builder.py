"""The `datasets` builder of twitter16_temporal."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.twitter16_temporal.benchmark import BENCHMARKS


class Twitter16Temporal(TemporalBuilder):
    """Builds twitter16_temporal, one configuration a protocol."""

    BENCHMARKS = BENCHMARKS
