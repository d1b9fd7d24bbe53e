"""The one `datasets` builder behind every benchmark."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa
from datasets.builder import Key

import temporal_rumors
from temporal_rumors import benchmark as registry
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import DEFAULT_PROTOCOL, PARTS
from temporal_rumors.records import Posts, sha256

logger = logging.getLogger(__name__)

# Whatever decides which rows a build holds; the cache of `datasets` is keyed by a digest of them.
_CODE = (
    "_version.py",
    "benchmark.py",
    "builder.py",
    "protocols.py",
    "records.py",
    "sources/files.py",
    "sources/table.py",
)


@dataclasses.dataclass
class TemporalConfig(datasets.BuilderConfig):
    """A protocol of a benchmark.

    Attributes:
        source_sha256: sha256 of the bytes that are read; a changed source is built anew.
    """

    source_sha256: str | None = None


class TemporalBuilder(datasets.ArrowBasedBuilder):
    """Builds the train, validation and test parts of a benchmark under one protocol.

    Args:
        config_name: the protocol; None takes `chrono`.
        data_dir: folder with a copy of the source file; None looks in TEMPORAL_RUMORS_DATA and the download cache,
            and downloads the file when the data set is built.
        allow_modified: take a source file whose sha256 differs from the published one.
        others: those of `datasets.DatasetBuilder`.

    Raises:
        UserError: an unknown protocol; a `data_dir` without the file; a file that is not the published one; a cache
            folder that cannot be written.
    """

    BENCHMARK: ClassVar[Benchmark]
    BUILDER_CONFIG_CLASS = TemporalConfig
    DEFAULT_CONFIG_NAME = DEFAULT_PROTOCOL

    def __init_subclass__(cls) -> None:
        cls.VERSION = datasets.Version(cls.BENCHMARK.version)
        cls.BUILDER_CONFIGS = [
            TemporalConfig(
                name=protocol, version=cls.VERSION, description=f"{cls.BENCHMARK.title}, protocol {protocol}"
            )
            for protocol in cls.BENCHMARK.protocols
        ]

    def __init__(
        self,
        cache_dir: str | None = None,
        dataset_name: str | None = None,
        config_name: str | None = None,
        hash: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        data_files: Any = None,
        allow_modified: bool = False,
        **kwargs: Any,
    ) -> None:
        name = self.BENCHMARK.name
        if data_files is not None:
            raise UserError(f"{name} is read from one known file: name its folder with data_dir=, not data_files=")
        self.BENCHMARK.check_protocol(config_name or DEFAULT_PROTOCOL)
        self._data_dir, self._allow_modified = data_dir, allow_modified
        self._posts: Posts | None = None
        try:
            super().__init__(
                cache_dir=cache_dir,
                dataset_name=name,
                config_name=config_name or DEFAULT_PROTOCOL,
                hash=_code_digest(name),
                source_sha256=self.BENCHMARK.digest(data_dir, allow_modified=allow_modified),
                **kwargs,
            )
        except OSError as error:
            raise _unwritable(cache_dir, error) from error

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """Build the Arrow files in the cache, as `datasets.DatasetBuilder.download_and_prepare` does."""
        try:
            super().download_and_prepare(*args, **kwargs)
        except datasets.exceptions.DatasetGenerationError as error:
            # A mistake in the source file is told in its own words, not as "an error occurred".
            if isinstance(error.__cause__, UserError):
                raise error.__cause__ from None
            raise
        except (PermissionError, NotADirectoryError) as error:
            raise _unwritable(self._cache_dir_root, error) from error

    def _info(self) -> datasets.DatasetInfo:
        b = self.BENCHMARK
        return datasets.DatasetInfo(
            description=f"{b.description}\n\nProtocol: {self.config.name}.",
            citation=b.citation,
            homepage=b.homepage,
            license=b.license,
            features=datasets.Features(
                {
                    "id": datasets.Value("string"),
                    "text": datasets.Value("string"),
                    "label": datasets.ClassLabel(names=list(b.classes)),
                    "created_at": datasets.Value("timestamp[ms, tz=UTC]"),
                    "event": datasets.Value("string"),
                }
            ),
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        # Names only: get_dataset_split_names calls this, and must touch no data.
        return [datasets.SplitGenerator(name=part, gen_kwargs={"part": part}) for part in PARTS]

    def _generate_tables(self, part: str) -> Iterator[tuple[Key, pa.Table]]:
        posts = self._read()
        rows = self.BENCHMARK.split(posts, self.config.name).parts()[part]
        yield Key(0, 0), as_table(posts, rows)

    def _read(self) -> Posts:
        if self._posts is None:
            posts = self.BENCHMARK.posts(self._data_dir, allow_modified=self._allow_modified)
            if posts.digest != self.config.source_sha256:
                raise UserError(f"{self.BENCHMARK.source.file.name} changed while it was read: call again")
            for line in posts.remarks():
                logger.warning("%s: %s", self.BENCHMARK.name, line)
            self._posts = posts
        return self._posts


def as_table(posts: Posts, rows: Any) -> pa.Table:
    """Return some posts as an Arrow table with the columns of the data sets.

    Args:
        posts: all posts.
        rows: (k,) int64 indices into them.
    """
    return pa.table(
        {
            "id": pa.array(posts.ids[rows].tolist(), pa.string()),
            "text": pa.array(posts.texts[rows].tolist(), pa.string()),
            "label": pa.array(posts.labels[rows], pa.int64()),
            "created_at": pa.array(posts.times[rows]).cast(pa.timestamp("ms", "UTC")),
            "event": pa.array(posts.events[rows].tolist(), pa.string()),
        }
    )


@cache
def _code_digest(name: str) -> str:
    root = Path(temporal_rumors.__file__).parent
    sources = [root / file for file in _CODE] + [registry.folder(name) / "benchmark.py"]
    return sha256(b"".join(path.read_bytes() for path in sources))[:16]


def _unwritable(folder: str | None, error: OSError) -> UserError:
    place = f"the cache folder {folder}" if folder else "the cache folder of datasets"
    return UserError(
        f"{place} cannot be written: {error.strerror or error} ({error.filename}); name another one with cache_dir= or "
        "HF_DATASETS_CACHE, or read without a cache: streaming=True"
    )
