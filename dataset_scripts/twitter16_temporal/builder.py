"""The `datasets` builder of twitter16_temporal."""

from temporal_rumors.dataset_scripts.twitter16_temporal.benchmark import BENCHMARK

from temporal_rumors.builder import TemporalBuilder


class Twitter16Temporal(TemporalBuilder):
    """Builds twitter16_temporal, one configuration a protocol."""

    BENCHMARK = BENCHMARK
