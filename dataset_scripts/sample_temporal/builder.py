"""The `datasets` builder of sample_temporal."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.sample_temporal.benchmark import BENCHMARKS


class SampleTemporal(TemporalBuilder):
    """Builds sample_temporal, one configuration a protocol."""

    BENCHMARKS = BENCHMARKS
