"""The `datasets` builder of rumoureval2019."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.rumoureval2019.benchmark import BENCHMARKS


class RumourEval2019(TemporalBuilder):
    """Builds rumoureval2019, one configuration a task and protocol."""

    BENCHMARKS = BENCHMARKS
