"""The one `datasets` builder behind every benchmark."""

from __future__ import annotations

import dataclasses
import importlib
import logging
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa

from temporal_rumors import benchmark as registry
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.plugin import METRICS_PACKAGE
from temporal_rumors.protocols import DEFAULT_PROTOCOL, PARTS
from temporal_rumors.records import Posts, sha256

logger = logging.getLogger(__name__)

# Whatever decides which rows a build holds, beside the benchmark's folder; the cache of `datasets` is keyed by it.
_CODE = ("_version.py", "benchmark.py", "builder.py", "protocols.py", "records.py", "sources/*.py")
# How official keys are read.
_METRICS_CODE = ("*/scoring.py", "*/submission.py")
# The data of which this process has told what was dropped or mended: once, not for every configuration.
_TOLD: set[tuple[str, str]] = set()


@dataclasses.dataclass
class TemporalConfig(datasets.BuilderConfig):
    """A protocol of a benchmark, or of one of its tasks.

    Attributes:
        source_sha256: sha256 of what is read; a changed source is built anew.
    """

    source_sha256: str | None = None


class TemporalBuilder(datasets.ArrowBasedBuilder):
    """Builds the train, validation and test parts of a benchmark under one protocol.

    Args:
        config_name: the protocol, with several tasks `<task>_<protocol>`, or the task alone for its official split;
            None takes `chrono`, or the official split of the first task.
        data_dir: folder with a copy of the source file; None looks in TEMPORAL_RUMORS_DATA and the download cache,
            and downloads the file when the data set is built.
        features: other types for the columns; `label` stays as it is.
        allow_modified: take a source file whose sha256 differs from the published one.
        **kwargs: as for `datasets.DatasetBuilder`.

    Raises:
        UserError: an unknown protocol; a `data_dir` without the file; a file that is not the published one; features
            that do not fit; a cache folder that cannot be written.
    """

    BENCHMARKS: ClassVar[tuple[Benchmark, ...]]
    BUILDER_CONFIG_CLASS = TemporalConfig

    def __init_subclass__(cls) -> None:
        cls.VERSION = datasets.Version(cls.BENCHMARKS[0].version)
        cls.BUILDER_CONFIGS = [
            TemporalConfig(name=config, version=cls.VERSION, description=f"{b.title}, protocol {protocol}")
            for b in cls.BENCHMARKS
            for config, protocol in b.configs.items()
        ]
        names = [config.name for config in cls.BUILDER_CONFIGS]
        cls.DEFAULT_CONFIG_NAME = DEFAULT_PROTOCOL if DEFAULT_PROTOCOL in names else names[0]

    def __init__(
        self,
        cache_dir: str | None = None,
        dataset_name: str | None = None,
        config_name: str | None = None,
        hash: str | None = None,
        features: datasets.Features | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        data_files: Any = None,
        allow_modified: bool = False,
        **kwargs: Any,
    ) -> None:
        name = self.BENCHMARKS[0].name
        if data_files is not None:
            raise UserError(f"{name} is read from known files: name their folder with data_dir=, not data_files=")
        config_name = config_name or self.DEFAULT_CONFIG_NAME
        self._benchmark, self._protocol = self._find(config_name)
        if features is not None:
            self._check(features)
        digest = self._benchmark.digest(data_dir, allow_modified=allow_modified)
        # Read later, perhaps from another working directory.
        self._data_dir = None if data_dir is None else os.path.abspath(os.path.expanduser(data_dir))
        self._allow_modified = allow_modified
        self._posts: Posts | None = None
        try:
            super().__init__(
                cache_dir=cache_dir,
                dataset_name=name,
                config_name=config_name,
                hash=_code_digest(name),
                features=features,
                source_sha256=digest,
                **kwargs,
            )
        except OSError as error:
            raise _unwritable(error) from error

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """Build the Arrow files in the cache, as `datasets.DatasetBuilder.download_and_prepare` does."""
        try:
            super().download_and_prepare(*args, **kwargs)
        except datasets.exceptions.DatasetGenerationError as error:
            # A mistake in the source file and a full disk are told as such, not as "an error occurred".
            if isinstance(error.__cause__, UserError):
                raise error.__cause__ from None
            if isinstance(error.__cause__, OSError):
                raise _unwritable(error.__cause__) from error
            raise
        except OSError as error:
            raise _unwritable(error) from error

    @classmethod
    def _find(cls, config_name: str) -> tuple[Benchmark, str]:
        """The benchmark and the protocol of a configuration."""
        found = {config: (b, protocol) for b in cls.BENCHMARKS for config, protocol in b.configs.items()}
        if config_name not in found:
            raise UserError(f"{cls.BENCHMARKS[0].name}: {unknown('protocol', config_name, found)}")
        return found[config_name]

    def _info(self) -> datasets.DatasetInfo:
        b, digest = self._benchmark, self.config.source_sha256
        remark = "" if digest == b.source.sha256 else ", not the published data"
        return datasets.DatasetInfo(
            description=f"{b.description}\n\nProtocol: {self._protocol}. "
            f"Source: {b.source.name}, sha256 {digest}{remark}.",
            citation=b.citation,
            homepage=b.homepage,
            license=b.license,
            features=features_of(b),
        )

    def _check(self, features: datasets.Features) -> None:
        # The labels are stored as numbers: under other class names, datasets would swap their meaning and say nothing.
        ours = features_of(self._benchmark)
        if set(features) != set(ours) or features["label"] != ours["label"]:
            raise UserError(
                f"features={features} do not fit {self._benchmark.label}: name the columns {', '.join(ours)}, with "
                f"label={ours['label']}; drop or cast columns of the data set that is returned"
            )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        # Names only: get_dataset_split_names calls this, and must touch no data.
        return [datasets.SplitGenerator(name=part, gen_kwargs={"part": part}) for part in PARTS]

    def _generate_tables(self, part: str) -> Iterator[tuple[int, pa.Table]]:
        posts = self._read()
        rows = self._benchmark.split(posts, self._protocol).parts()[part]
        yield 0, as_table(self._benchmark, posts, rows)

    def _read(self) -> Posts:
        if self._posts is None:
            posts = self._benchmark.posts(self._data_dir, allow_modified=self._allow_modified)
            if posts.digest != self.config.source_sha256:
                raise UserError(f"{self._benchmark.source.name} changed while it was read: call again")
            if (told := (self._benchmark.label, posts.digest)) not in _TOLD:
                _TOLD.add(told)
                for line in posts.remarks():
                    logger.warning("%s: %s", self._benchmark.label, line)
            self._posts = posts
        return self._posts


def features_of(benchmark: Benchmark) -> datasets.Features:
    """Return the columns of a benchmark's data set and their types."""

    def feature(spec: Any) -> Any:
        if isinstance(spec, str):
            return datasets.Value(spec)
        return datasets.List({name: feature(inner) for name, inner in spec[0].items()})

    return datasets.Features(
        {
            "id": datasets.Value("string"),
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=list(benchmark.classes)),
            "created_at": datasets.Value("timestamp[ms, tz=UTC]"),
            "event": datasets.Value("string"),
            **{name: feature(spec) for name, spec in benchmark.columns.items()},
        }
    )


def as_table(benchmark: Benchmark, posts: Posts, rows: Any) -> pa.Table:
    """Return some posts as an Arrow table with the columns of the benchmark's data set.

    Args:
        benchmark: whose columns.
        posts: all its posts.
        rows: (k,) int64 indices into them.
    """
    schema = features_of(benchmark).arrow_schema
    return pa.table(
        {
            "id": pa.array(posts.ids[rows].tolist(), pa.string()),
            "text": pa.array(posts.texts[rows].tolist(), pa.string()),
            "label": pa.array(posts.labels[rows], pa.int64()),
            "created_at": pa.array(posts.times[rows]).cast(pa.timestamp("ms", "UTC")),
            "event": pa.array(posts.events[rows].tolist(), pa.string()),
            **{n: pa.array(posts.columns[n][rows].tolist(), schema.field(n).type) for n in benchmark.columns},
        }
    )


@cache
def _code_digest(name: str) -> str:
    root = Path(__file__).parent
    sources = [path for pattern in _CODE for path in sorted(root.glob(pattern))]
    metrics = Path(importlib.import_module(METRICS_PACKAGE).__path__[0])
    sources += [path for pattern in _METRICS_CODE for path in sorted(metrics.glob(pattern))]
    return sha256(b"".join(path.read_bytes() for path in [*sources, registry.folder(name) / "benchmark.py"]))[:16]


def _unwritable(error: OSError) -> UserError:
    return UserError(
        f"the data set cannot be written to disk: {error}; name a folder that can be written and has room, "
        "with cache_dir= or HF_DATASETS_CACHE"
    )
