"""The `datasets` builder of pheme_temporal."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.pheme_temporal.benchmark import BENCHMARKS


class PhemeTemporal(TemporalBuilder):
    """Builds pheme_temporal, one configuration a protocol."""

    BENCHMARKS = BENCHMARKS
