"""The `datasets` builder of rumoureval2017."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.rumoureval2017.benchmark import BENCHMARKS


class RumourEval2017(TemporalBuilder):
    """Builds rumoureval2017, one configuration a task and protocol."""

    BENCHMARKS = BENCHMARKS
