"""What `import temporal_rumors` registers, whatever was imported before it, around it or after it."""

import importlib
import inspect
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import temporal_rumors
from temporal_rumors import benchmark, errors, plugin

HEAVY = ("numpy", "torch", "transformers", "datasets", "evaluate", "matplotlib", "pandas", "sklearn", "pyarrow")

# A process in which every attempt to reach the network fails with an AssertionError.
OFFLINE = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError(f"the network was asked for {args}")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs a script in an empty folder, a Python and caches of its own."""

    def run(script: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / "empty"
        folder.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, *options, "-c", OFFLINE + textwrap.dedent(script)],
            cwd=folder,
            env={
                **os.environ,
                "HF_HOME": str(tmp_path / "hf"),
                "HF_DATASETS_CACHE": str(tmp_path / "ds"),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


class TestImport:
    def test_loads_nothing_heavy_and_may_be_repeated(self, python: Callable[..., object]) -> None:
        python(
            f"""
            import importlib, sys, warnings
            warnings.simplefilter("error")
            import temporal_rumors
            importlib.reload(temporal_rumors)
            import temporal_rumors
            from temporal_rumors import plugin
            plugin.register()
            assert sum(isinstance(finder, plugin._Finder) for finder in sys.meta_path) == 1
            assert temporal_rumors.__version__
            assert {{"macro_prf", "split"}} <= set(dir(temporal_rumors))
            assert not (loaded := sys.modules.keys() & set({HEAVY})), loaded
            """
        )

    def test_takes_less_than_a_tenth_of_a_second(self, python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
        times = []
        for _ in range(5):
            report = python("import temporal_rumors", "-X", "importtime").stderr
            (microseconds,) = re.findall(r"\|\s*(\d+) \| temporal_rumors$", report, re.MULTILINE)
            times.append(int(microseconds))
        assert min(times) < 100_000

    def test_a_name_that_does_not_exist_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no_such_name"):
            temporal_rumors.no_such_name  # noqa: B018

    @pytest.mark.parametrize("name", [name for name in temporal_rumors.__all__ if name != "__version__"])
    def test_every_public_name_is_there(self, name: str) -> None:
        assert callable(getattr(temporal_rumors, name))


class TestDatasets:
    def test_imported_after_us_by_many_threads(self, python: Callable[..., object]) -> None:
        python(
            """
            import os, sys, threading
            import temporal_rumors
            import temporal_rumors.plugin

            rows, barrier = [], threading.Barrier(4)
            def load():
                barrier.wait()
                from datasets import load_dataset
                rows.append(load_dataset("sample_temporal", "chrono_stratified", split="test")["id"][:])
            threads = [threading.Thread(target=load) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            assert len(rows) == 4 and all(row == rows[0] for row in rows), [len(row) for row in rows]

            import importlib, inspect, datasets
            from datasets import get_dataset_config_names, get_dataset_split_names, load_dataset
            assert "chrono" in get_dataset_config_names("sample_temporal")
            assert get_dataset_split_names("sample_temporal", "chrono") == ["train", "validation", "test"]
            assert next(iter(load_dataset("sample_temporal", split="test", streaming=True)))["id"]

            # The factory is wrapped once, whatever is imported again.
            for module in (temporal_rumors, temporal_rumors.plugin, temporal_rumors):
                importlib.reload(module)
            factory = datasets.load.dataset_module_factory
            assert not hasattr(factory.__wrapped__, "__wrapped__")
            assert datasets.inspect.dataset_module_factory is factory
            importlib.reload(datasets.load)
            assert not hasattr(datasets.load.dataset_module_factory.__wrapped__, "__wrapped__")
            assert load_dataset("sample_temporal", "chrono_stratified", split="test")["id"][:] == rows[0]
            assert "def load_dataset(" in inspect.getsource(datasets.load)

            # The name means ours; with a dot it means the folder.
            os.mkdir("sample_temporal")
            with open("sample_temporal/train.csv", "w") as stream:
                stream.write("greeting\\nhello\\n")
            assert load_dataset("sample_temporal", "chrono_stratified", split="test")["id"][:] == rows[0]
            assert load_dataset("./sample_temporal", split="train")["greeting"][:] == ["hello"]
            os.mkdir("my_temporal")
            with open("my_temporal/train.csv", "w") as stream:
                stream.write("greeting\\nhello\\n")
            assert load_dataset("my_temporal", split="train")["greeting"][:] == ["hello"]
            assert load_dataset("csv", data_files="my_temporal/train.csv", split="train")["greeting"][:] == ["hello"]
            """
        )

    def test_imported_before_us(self, python: Callable[..., object], tmp_path: Path) -> None:
        from temporal_rumors.dataset_scripts.sample_temporal.builder import SampleTemporal

        # As a worker that is started afresh receives it.
        (tmp_path / "builder.pickle").write_bytes(pickle.dumps(SampleTemporal(cache_dir=str(tmp_path / "cache"))))
        python(
            f"""
            import pickle
            from datasets import get_dataset_config_names, load_dataset
            from datasets.load import dataset_module_factory
            builder = pickle.load(open({str(tmp_path / "builder.pickle")!r}, "rb"))
            builder.download_and_prepare()
            import temporal_rumors
            assert load_dataset("sample_temporal", split="test")[:] == builder.as_dataset(split="test")[:]
            assert "chrono" in get_dataset_config_names("sample_temporal")

            import datasets
            assert datasets.load.dataset_module_factory.__wrapped__ is dataset_module_factory
            assert datasets.inspect.dataset_module_factory is datasets.load.dataset_module_factory
            """
        )

    @pytest.mark.parametrize(
        "change",
        [
            "load.dataset_module_factory = lambda repo, path: None",
            "load.DatasetModule = lambda *args: None",
            "del load.dataset_module_factory",
            "del load.DatasetModule",
        ],
    )
    def test_whose_insides_have_changed_is_named_and_left_alone(self, change: str) -> None:
        import datasets.load

        load = ModuleType("datasets.load")
        load.dataset_module_factory = inspect.unwrap(datasets.load.dataset_module_factory)
        load.DatasetModule = datasets.load.DatasetModule
        exec(change, {"load": load})
        before = dict(vars(load))
        with pytest.warns(RuntimeWarning, match=rf"insides of datasets {datasets.__version__}.*PhemeTemporal\("):
            plugin._patch_datasets(load)
        assert vars(load) == before

    def test_of_a_newer_version_warns_at_import_and_builders_still_work(
        self, python: Callable[..., subprocess.CompletedProcess[str]]
    ) -> None:
        done = python(
            """
            import datasets.load
            datasets.load.dataset_module_factory = lambda repo: None
            import temporal_rumors
            from temporal_rumors.dataset_scripts.sample_temporal.builder import SampleTemporal
            sample = SampleTemporal(config_name="chrono")
            sample.download_and_prepare()
            assert len(sample.as_dataset()) == 3
            """
        )
        assert "RuntimeWarning: temporal-rumors does not know the insides of datasets" in done.stderr


class TestEvaluate:
    def test_imported_after_us(self, python: Callable[..., object]) -> None:
        python(
            """
            import importlib
            import temporal_rumors
            import evaluate
            import evaluate.evaluation_suite

            inputs = {"predictions": [0, 1, 1, 1], "references": [0, 0, 1, 1]}
            scores = [
                evaluate.load(name, **arguments).compute(**inputs)
                for name, arguments in [
                    ("macro_prf", {}),
                    ("macro_prf", {}),
                    ("macro_prf", {"config_name": None}),
                    ("macro_prf", {"module_type": "metric"}),
                ]
            ]
            assert all(score == scores[0] for score in scores), scores
            assert scores[0]["accuracy"] == 0.75
            combined = evaluate.combine(["macro_prf"])
            assert combined.compute(**inputs)["accuracy"] == 0.75

            try:
                evaluate.load("macro_prf", module_type="comparison")
            except TypeError as error:
                assert "'comparison'" in str(error) and "'metric'" in str(error), error
            else:
                raise AssertionError("a metric was taken for a comparison")

            factory = evaluate.loading.evaluation_module_factory
            assert evaluate.inspect.evaluation_module_factory is factory
            assert evaluate.evaluation_suite.evaluation_module_factory is factory
            importlib.reload(temporal_rumors.plugin)
            importlib.reload(temporal_rumors)
            assert evaluate.loading.evaluation_module_factory is factory
            """
        )

    def test_imported_before_us(self, python: Callable[..., object]) -> None:
        python(
            """
            import os
            from evaluate import load
            import evaluate.evaluation_suite
            from evaluate.loading import HubEvaluationModuleFactory, evaluation_module_factory
            import temporal_rumors
            for module in (evaluate.loading, evaluate.inspect, evaluate.evaluation_suite):
                assert module.evaluation_module_factory.__wrapped__ is evaluation_module_factory
            assert load("macro_prf").compute(predictions=["a"], references=["a"])["f1"] == 1.0

            # Other names go where they went.
            asked = []
            def get_module(self):
                asked.append(self.name)
                raise FileNotFoundError("no such module")
            HubEvaluationModuleFactory.get_module = get_module
            for name, message in [
                ("accuracy", "'accuracy' doesn't exist on the Hugging Face Hub"),
                ("someone/macro_prf", "'someone/macro_prf' doesn't exist on the Hugging Face Hub"),
                ("macro_prv", "unknown metric 'macro_prv' (did you mean 'macro_prf'?)"),
            ]:
                try:
                    load(name)
                except FileNotFoundError as error:
                    assert message in str(error), error
            assert asked == ["evaluate-metric/accuracy", "someone/macro_prf", "evaluate-metric/macro_prv"], asked

            # The name means ours; with a dot it means the folder.
            os.mkdir("macro_prf")
            with open("macro_prf/macro_prf.py", "w") as stream:
                stream.write('''
            import datasets
            import evaluate

            class Local(evaluate.Metric):
                def _info(self):
                    features = datasets.Features({"predictions": datasets.Value("int64")})
                    return evaluate.MetricInfo("", "", features)

                def _compute(self, predictions):
                    return {"local": len(predictions)}
            '''.replace("\\n            ", "\\n"))
            assert load("macro_prf").compute(predictions=["a"], references=["a"])["f1"] == 1.0
            assert load("./macro_prf").compute(predictions=[1, 2]) == {"local": 2}
            """
        )

    def test_finds_the_folders_of_metrics(self) -> None:
        names = plugin.metric_names()
        assert "macro_prf" in names
        assert names == sorted(names)

    @pytest.mark.parametrize(
        "change", ["load.evaluation_module_factory = lambda name: None", "del load.ImportableModule"]
    )
    def test_whose_insides_have_changed_is_named_and_left_alone(self, change: str) -> None:
        import evaluate.loading

        load = ModuleType("evaluate.loading")
        load.evaluation_module_factory = inspect.unwrap(evaluate.loading.evaluation_module_factory)
        load.ImportableModule = evaluate.loading.ImportableModule
        exec(change, {"load": load})
        before = dict(vars(load))
        with pytest.warns(RuntimeWarning, match=rf"insides of evaluate {evaluate.__version__}.*macro_prf\("):
            plugin._patch_evaluate(load)
        assert vars(load) == before


class TestFinder:
    """The import hook on a library made for it, whose module `toylib.load` is to be patched once it has run."""

    @pytest.fixture
    def patched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
        """Put the library on the path; return a list of what was patched, one entry a time."""
        calls: list[str] = []

        def patch(module: ModuleType) -> None:
            assert module.ready, "the module was patched before it had run"
            calls.append(module.__name__)

        folder = tmp_path / "path" / "toylib"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "load.py").write_text("import time\ntime.sleep(0.05)\nready = True\n")
        (folder / "other.py").write_text("")
        monkeypatch.syspath_prepend(folder.parent)
        monkeypatch.setattr(plugin, "_PATCHES", {"toylib.load": patch, "toylib.missing": patch})
        monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, plugin._Finder)])
        yield calls
        for name in [name for name in sys.modules if name.partition(".")[0] == "toylib"]:
            del sys.modules[name]

    def test_patches_a_module_each_time_it_runs(self, patched: list[str]) -> None:
        plugin.register()
        import toylib.other

        assert patched == []
        import toylib.load

        assert patched == ["toylib.load"]
        importlib.reload(toylib.load)
        assert patched == ["toylib.load"] * 2
        assert "ready = True" in inspect.getsource(toylib.load)

    def test_finding_is_not_importing(self, patched: list[str]) -> None:
        plugin.register()
        spec = importlib.util.find_spec("toylib.load")
        assert spec is not None
        assert spec.loader.is_package("toylib.load") is False
        assert patched == []

    def test_a_module_that_does_not_exist_stays_missing(self, patched: list[str]) -> None:
        plugin.register()
        with pytest.raises(ModuleNotFoundError, match=r"toylib\.missing"):
            importlib.import_module("toylib.missing")

    def test_patches_at_once_what_is_imported_already_even_by_another_thread(self, patched: list[str]) -> None:
        thread = threading.Thread(target=importlib.import_module, args=("toylib.load",))
        thread.start()
        while "toylib.load" not in sys.modules:
            pass
        plugin.register()
        thread.join()
        assert patched == ["toylib.load"]

    def test_no_thread_sees_the_module_unpatched(self, patched: list[str]) -> None:
        plugin.register()
        seen: list[int] = []

        def look() -> None:
            importlib.import_module("toylib.load")
            seen.append(len(patched))

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [1] * 8

    @pytest.mark.parametrize("first", [True, False])
    def test_gets_along_with_a_finder_that_asks_all_others(self, first: bool, patched: list[str]) -> None:
        class Curious:
            asked = 0

            def find_spec(self, name: str, path: object = None, target: object = None) -> object:
                Curious.asked += 1
                for finder in sys.meta_path:
                    if finder is not self and (spec := finder.find_spec(name, path, target)):
                        return spec
                return None

        if first:
            plugin.register()
        sys.meta_path.insert(0, Curious())
        plugin.register()
        importlib.import_module("toylib.load")

        assert set(patched) == {"toylib.load"}
        assert Curious.asked > 0

    def test_gets_along_with_a_copy_of_itself_and_with_a_finder_of_the_old_kind(self, patched: list[str]) -> None:
        class Old:
            def find_module(self, name: str, path: object = None) -> None:
                pass

        sys.meta_path[:0] = [plugin._Finder(), Old(), plugin._Finder()]
        importlib.import_module("toylib.load")

        assert set(patched) == {"toylib.load"}

    def test_comes_back_when_it_was_taken_out(self, patched: list[str]) -> None:
        plugin.register()
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, plugin._Finder)]
        importlib.import_module("toylib.load")

        assert patched == []
        plugin.register()
        assert patched == ["toylib.load"]

    def test_touches_no_other_module_of_a_shared_loader(self, patched: list[str], tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "toylib.zip", "w") as archive:
            for file in (tmp_path / "path" / "toylib").glob("*.py"):
                archive.write(file, f"toylib/{file.name}")
        sys.path[0] = str(tmp_path / "toylib.zip")
        plugin.register()
        import toylib.load
        import toylib.other

        assert ".zip" in toylib.load.__file__
        assert patched == ["toylib.load"]


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    message = errors.unknown("benchmark", "pheme", benchmark.names())
    assert "did you mean 'pheme_temporal'?" in message
    assert all(name in message for name in benchmark.names())
