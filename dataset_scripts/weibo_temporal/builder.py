"""The `datasets` builder of weibo_temporal."""

from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.weibo_temporal.benchmark import BENCHMARKS


class WeiboTemporal(TemporalBuilder):
    """Builds weibo_temporal, one configuration a protocol."""

    BENCHMARKS = BENCHMARKS
