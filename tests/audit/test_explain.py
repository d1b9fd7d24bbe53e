"""An inflation adds up, agrees with the report and with plain computation, and is refused where records do not fit."""

from __future__ import annotations

import copy
import importlib.util
import io
import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rich.console import Console
from sklearn.metrics import f1_score

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, statistics
from temporal_rumors.audit.decomposition import Decomposition
from temporal_rumors.audit.explain import Explanation, Row, explain, explain_posts
from temporal_rumors.audit.layout import section, tables
from temporal_rumors.audit.scored import Options, Share, Subject
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.experiment.execute import Settings, execute_run
from temporal_rumors.experiment.grid import grid
from temporal_rumors.experiment.store import RunStore
from temporal_rumors.models.lr import Classifier
from temporal_rumors.protocols import CHRONO, RANDOM_FOLDS
from temporal_rumors.records import Post, Posts
from temporal_rumors.report import summarise

Record = dict[str, Any]
FEW = 100  # resamples, where intervals do not matter


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_of_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generated = load(Path(__file__).parents[2] / "benchmarks" / "explain.py")


@pytest.fixture(scope="module")
def sample() -> tuple[Benchmark, Posts]:
    benchmark = benchmarks.get("sample_temporal")
    return benchmark, benchmark.posts()


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """All runs of lr on the sample."""
    store = tmp_path_factory.mktemp("runs")
    for run in grid(["sample_temporal"], ["lr"]):
        assert execute_run(run, Settings(str(store))).path
    return RunStore(store).read()


@pytest.fixture(scope="module")
def whole(records: list[Record]) -> Explanation:
    return explain(records, retrain=True, n_resamples=500)


@pytest.fixture
def changed(records: list[Record]) -> Callable[..., list[Record]]:
    """Return a function that copies the runs, and has a function change the record of a protocol."""

    def change(protocol: str, how: Callable[[Record], Any]) -> list[Record]:
        found = copy.deepcopy(records)
        how(next(record for record in found if record["protocol"] == protocol))
        return found

    return change


def of(explanation: Explanation, protocol: str) -> Row:
    return next(row for row in explanation.rows if row.protocol == protocol)


@pytest.fixture(scope="module")
def pools(records: list[Record]) -> dict[str, dict[str, tuple[int, int]]]:
    """random, loo, chrono -> id -> reference and prediction."""
    found: dict[str, dict[str, tuple[int, int]]] = {"random": {}, "loo": {}, "chrono": {}}
    for record in records:
        ids, *answers = (record["predictions"][name] for name in ("ids", "references", "predictions"))
        for name, pool in found.items():
            if record["protocol"] == name or (name != "chrono" and record["protocol"].startswith(f"{name}_")):
                pool.update(zip(ids, zip(*answers, strict=True), strict=True))
    return found


def f1(answers: dict[str, tuple[int, int]]) -> float:
    references, predictions = zip(*answers.values(), strict=True)
    return 100 * f1_score(references, predictions, average="macro")


def test_raw_inflation_and_t_are_those_of_the_report(records: list[Record], whole: Explanation) -> None:
    reported = {row.protocol: row for row in summarise(records).inflation}
    assert [row.protocol for row in whole.rows] == list(reported)
    for row in whole.rows:
        other = reported[row.protocol]
        assert row.raw
        assert (row.raw.points, row.raw.random, row.raw.protocol) == pytest.approx(
            (other.points, other.random_mean, other.protocol_mean)
        )
        assert (row.tests.t.test, row.tests.t.p_value) == (other.test, pytest.approx(other.p_value))


@pytest.mark.parametrize("protocol", ["chrono", "loo"])
def test_pooled_and_paired_scores_are_plain_macro_f1(
    pools: dict[str, dict[str, tuple[int, int]]], whole: Explanation, protocol: str
) -> None:
    row, random, other = of(whole, protocol), pools["random"], pools[protocol]
    assert row.pooled
    assert row.paired
    assert (row.pooled.random, row.pooled.protocol) == pytest.approx((f1(random), f1(other)))
    both = {id: random[id] for id in other}
    assert (row.paired.random, row.paired.protocol) == pytest.approx((f1(both), f1(other)))
    right = [np.array([r == p for r, p in answers.values()]) for answers in (both, other)]
    assert row.tests.mcnemar_p == statistics.mcnemar_exact(*right)
    assert row.tests.only_random_right == (right[0] & ~right[1]).sum()
    assert (row.random_posts, row.protocol_posts, row.both_posts) == (len(random), len(other), len(other))


def test_matching_gives_the_mean_of_subsamples_with_the_class_mix_of_the_protocol(
    pools: dict[str, dict[str, tuple[int, int]]], records: list[Record]
) -> None:
    random, rng = pools["random"], np.random.default_rng(0)
    rumours = [id for id, (label, _) in random.items() if label]
    others = [id for id, (label, _) in random.items() if not label]
    # Test parts with few rumours: the sample's own have the same mix everywhere.
    kept = [id for id, (label, _) in pools["loo"].items() if not label or int(id[-1]) < 2]
    mixed = copy.deepcopy(records)
    for record in mixed:
        if record["protocol"].startswith("loo"):
            answers = record["predictions"]
            keep = [i for i, id in enumerate(answers["ids"]) if id in set(kept)]
            record["predictions"] = {name: [values[i] for i in keep] for name, values in answers.items()}
    n_rumours = sum(pools["loo"][id][0] for id in kept)
    n_others = len(kept) - n_rumours
    assert 0.1 < n_rumours / n_others < 0.4
    scores = [
        f1({id: random[id] for id in [*rng.choice(rumours, n_rumours, False), *rng.choice(others, n_others, False)]})
        for _ in range(300)
    ]
    row = of(explain(mixed, n_resamples=FEW), "loo")
    assert row.matched
    assert row.pooled
    assert row.matched.random == pytest.approx(np.mean(scores), abs=0.2)
    assert abs(row.pooled.random - row.matched.random) > 0.3
    assert row.rescored
    assert row.rescored.class_mix
    assert row.rescored.class_mix.points == pytest.approx(row.pooled.random - row.matched.random)
    assert any("of 604 test posts" in note or "test posts have a prediction" in note for note in row.notes)


def test_the_share_of_near_copies_is_what_goes_without_the_posts_they_touch(
    pools: dict[str, dict[str, tuple[int, int]]], sample: tuple[Benchmark, Posts], whole: Explanation
) -> None:
    benchmark, posts = sample
    untouched: list[int] = []
    n_leaked = 0
    for protocol in RANDOM_FOLDS:
        split = benchmark.split(posts, protocol)
        distances = [
            [Levenshtein.distance(posts.texts[i], posts.texts[j], score_cutoff=20) for j in split.train]
            for i in split.test
        ]
        near = np.array(distances) <= 20
        untouched += split.test[~near.any(axis=1)].tolist()
        n_leaked += int(near.any(axis=0).sum())
    weights = np.bincount(posts.labels) / np.bincount(posts.labels[untouched])
    references, predictions = zip(*(pools["random"][posts.ids[i]] for i in untouched), strict=True)
    without = 100 * f1_score(references, predictions, average="macro", sample_weight=weights[list(references)])
    row = of(whole, "loo")
    assert row.rescored
    assert row.pooled
    (share,) = (leak for leak in row.rescored.leaks if leak.name == "near_copy")
    assert share.posts == len(posts) - len(untouched)
    assert share.alone.points == share.added.points == pytest.approx(row.pooled.random - without)
    assert row.retrained
    (share,) = (leak for leak in row.retrained.leaks if leak.name == "near_copy")
    assert share.posts == n_leaked


def test_parts_sum_to_the_inflation(whole: Explanation) -> None:
    for row in whole.rows:
        assert len(row.decompositions) == 2
        for found in row.decompositions:
            assert row.pooled
            assert row.matched
            assert found.class_mix
            leaks = sum(leak.added.points for leak in found.leaks)
            assert found.total == row.pooled.points
            assert found.class_mix.points + leaks - found.own.points + found.remains.points == pytest.approx(
                found.total
            )
            assert leaks - found.own.points + found.remains.points == pytest.approx(row.matched.points)
            assert found.leaks[0].added.points > 10
            assert found.together.points == pytest.approx(leaks - found.own.points)


def test_parts_that_do_not_sum_are_never_returned() -> None:
    with pytest.raises(AssertionError, match="the parts sum to 3"):
        Decomposition(False, 4.0, Share(1.0, None), [], Share(1.0, None), 0, Share(0.0, None), Share(3.0, None))


def test_intervals_that_know_of_near_copies_are_wider(whole: Explanation) -> None:
    for row in whole.rows:
        for effect in row.effects.values():
            if effect:
                assert effect.clustered
                assert effect.independent
                (low, high), (inner_low, inner_high) = effect.clustered, effect.independent
                assert low < effect.points < high
                assert high - low > 1.2 * (inner_high - inner_low)


def test_retraining_makes_training_parts_of_unequal_size_equal(whole: Explanation, records: list[Record]) -> None:
    assert [row.protocol for row in whole.rows if row.equal_training] == ["loo"]
    plain = explain(records, n_resamples=FEW)
    assert not any(row.equal_training or row.retrained for row in plain.rows)
    assert [row.protocol for row in plain.rows if any("differ in size" in note for note in row.notes)] == ["loo"]


def test_p_values_are_adjusted_over_the_whole_table(whole: Explanation) -> None:
    tests = [row.tests for row in whole.rows]
    for name in ("randomisation", "mcnemar"):
        found = [getattr(each, f"{name}_p") for each in tests]
        assert [getattr(each, f"{name}_holm") for each in tests] == pytest.approx(statistics.holm(found).tolist())
    assert [t.t_holm for t in tests] == pytest.approx(statistics.holm([t.t.p_value for t in tests]).tolist())


def test_bins_over_time_split_the_test_part_evenly(
    whole: Explanation, pools: dict[str, dict[str, tuple[int, int]]], sample: tuple[Benchmark, Posts]
) -> None:
    benchmark, posts = sample
    over_time = of(whole, CHRONO).over_time
    assert over_time
    assert [found.posts for found in over_time.bins] == [31, 30, 30, 30]
    test, start = benchmark.split(posts, CHRONO).test, 0
    for found in over_time.bins:
        ids = posts.ids[test[start : start + found.posts]].tolist()
        assert found.score == pytest.approx(f1({id: pools["chrono"][id] for id in ids}))
        assert found.random == pytest.approx(f1({id: pools["random"][id] for id in ids}))
        assert found.start <= found.end
        start += found.posts
    scores = [found.score for found in over_time.bins]
    assert over_time.area == pytest.approx((sum(scores) - (scores[0] + scores[-1]) / 2) / (len(scores) - 1))
    assert of(whole, "loo").over_time is None


def test_the_order_of_records_and_repeats_do_not_matter(records: list[Record]) -> None:
    first = explain(records, n_resamples=FEW).to_json()
    assert explain([*reversed(records), *records[:3]], n_resamples=FEW).to_json() == first
    assert explain(records, n_resamples=FEW, seed=1).to_json() != first


def with_seed(records: list[Record], seed: int) -> list[Record]:
    return [record | {"seed": seed, "key": f"{record['key']}-{seed}"} for record in records]


def test_seeds_are_averaged_over(records: list[Record]) -> None:
    worse = copy.deepcopy(with_seed(records, 1))
    for record in worse:
        record["predictions"]["predictions"] = [1 - answer for answer in record["predictions"]["predictions"]]
    one, other = (explain(found, n_resamples=FEW).rows for found in (records, worse))
    both = explain([*records, *worse], n_resamples=FEW)
    for a, b, row in zip(one, other, both.rows, strict=True):
        for name, effect in row.effects.items():
            if effect:
                points = [getattr(each, name).points for each in (a, b)]
                assert effect.points == pytest.approx(np.mean(points), abs=1e-9)
        assert row.tests.seed == 0
        assert row.tests.mcnemar_p == a.tests.mcnemar_p
        assert row.both_posts == a.both_posts
        assert "seeds:0,1" in row.protocol_signature


def test_seeds_that_only_one_side_has_leave_no_system_to_test_on_the_same_posts(records: list[Record]) -> None:
    random = [record for record in records if record["protocol"] in RANDOM_FOLDS]
    chrono = [record for record in records if record["protocol"] == CHRONO]
    (row,) = explain([*random, *with_seed(chrono, 7)], n_resamples=FEW).rows
    assert row.paired
    assert (row.tests.seed, row.tests.mcnemar_p, row.tests.mcnemar_holm) == (None, None, None)


def test_identical_answers_are_no_inflation(
    records: list[Record], pools: dict[str, dict[str, tuple[int, int]]]
) -> None:
    same = copy.deepcopy(records)
    for record in same:
        record["predictions"]["predictions"] = [pools["random"][id][1] for id in record["predictions"]["ids"]]
    row = of(explain(same, n_resamples=FEW), "loo")
    assert row.paired
    assert (row.paired.points, row.paired.clustered) == (0.0, (0.0, 0.0))
    assert (row.tests.randomisation_p, row.tests.mcnemar_p) == (1.0, 1.0)


def test_folds_that_are_missing_are_told_and_their_posts_counted(records: list[Record]) -> None:
    row = of(explain([r for r in records if r["protocol"] != "random_fold3"], n_resamples=FEW), "loo")
    assert "4 of 5 runs (5 random folds)" in row.notes
    assert (row.random_posts, row.both_posts, row.protocol_posts) == (483, 483, 604)
    assert "121 posts that loo tests are not tested by the random folds at hand" in row.notes


def test_predictions_that_are_missing_bound_the_score(
    changed: Callable[..., list[Record]], pools: dict[str, dict[str, tuple[int, int]]]
) -> None:
    def shorten(record: Record) -> None:
        record["predictions"] = {name: values[:-10] for name, values in record["predictions"].items()}

    row = of(explain(changed(CHRONO, shorten), n_resamples=FEW), CHRONO)
    (note,) = (note for note in row.notes if "have a prediction" in note)
    assert note.startswith("chrono: 111 of 121 test posts have a prediction; with all of them macro-F1 is from ")
    low, high = (float(word) for word in note.rsplit("from ", 1)[1].split(" to "))
    assert low < f1(pools["chrono"]) < high
    assert "coverage:111/121" in row.protocol_signature


def _set(*path: Any) -> Callable[[Record], None]:
    *where, value = path

    def change(record: Record) -> None:
        target: Any = record
        for name in where[:-1]:
            target = target[name]
        target[where[-1]] = value

    return change


def _repeat(record: Record) -> None:
    answers = record["predictions"]
    for name in answers:
        answers[name][1] = answers[name][0]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_set("predictions", "ids", 5, "no-such-id"), "1 of 121 predictions are for ids that are not in the test part"),
        (_repeat, r"the id '[\w-]+' has two predictions: keep one"),
        (_set("data_digest", "0" * 64), "the run was made on data 00000000, at hand are fdb4aba2: name the folder"),
        (_set("split_digest", "0" * 64), "the run was made on the split 00000000, this version makes"),
        (_set("classes", ["no", "yes"]), "the run has the classes no, yes, the benchmark non-rumour, rumour"),
        (_set("predictions", "predictions", 0, 2), "predictions must be integers from 0 to 1"),
        (_set("predictions", "predictions", 0, 0.5), "predictions must be integers from 0 to 1"),
        (_set("predictions", "predictions", [0]), "121 and 121 and 1 ids, references and predictions"),
        (_set("predictions", {"ids": [], "references": [], "predictions": []}), "no predictions at all"),
        (_set("predictions", "references", [0] * 121), "the references are not the labels of the posts"),
    ],
)
def test_records_that_do_not_fit_are_refused(
    change: Callable[[Record], None], error: str, sample: tuple[Benchmark, Posts], records: list[Record]
) -> None:
    found = copy.deepcopy([r for r in records if r["protocol"] in (*RANDOM_FOLDS, CHRONO)])
    for record in found:
        # Data and classes are those of a variant of the model: another one would not be compared.
        if record["protocol"] == CHRONO or "run was made on data" in error or "has the classes" in error:
            change(record)
    with pytest.raises(UserError, match=error):
        explain_posts(found, *sample, n_resamples=FEW)


@pytest.mark.parametrize("kept", [(), RANDOM_FOLDS, (CHRONO, "chrono_stratified")])
def test_runs_that_show_no_inflation_are_an_error_that_says_what_it_takes(
    records: list[Record], kept: tuple[str, ...]
) -> None:
    with pytest.raises(UserError, match=r"do not show .* takes runs of one model under random folds and under another"):
        explain([record for record in records if record["protocol"] in kept])


def test_retraining_refuses_a_model_of_another_version(records: list[Record], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Classifier, "version", "2")
    with pytest.raises(UserError, match="the runs are of version 1 of lr, this is 2: run them again"):
        explain(records, retrain=True)
    assert explain(records, n_resamples=FEW).rows


def test_variants_of_a_model_are_named_as_in_the_report(records: list[Record]) -> None:
    other = [r | {"settings": {"C": 1}, "key": f"{r['key']}-other"} for r in records]
    names = {row.model for row in explain([*records, *other], n_resamples=FEW).rows}
    assert names == {row.model for row in summarise([*records, *other]).inflation}
    assert len(names) == 2


def made(n: int = 120, *, labels: Any = None, threads: Any = None, events: Any = None) -> Posts:
    """Posts that are no near copies of each other."""
    rng = np.random.default_rng(0)
    texts = [" ".join(row) for row in generated.words(rng, 8 * n).reshape(n, 8).tolist()]
    labels = np.arange(n) % 2 if labels is None else labels
    return Posts.from_records(
        (
            Post(
                id=f"{i:04}",
                text=text,
                label=int(labels[i]),
                created_at=i * 1000,
                event=None if events is None else events[i],
                thread=None if threads is None else threads[i],
            )
            for i, text in enumerate(texts)
        ),
        digest="0" * 64,
    )


def subject_of(posts: Posts) -> Subject:
    return Subject(generated.make_benchmark("made", posts), posts, Options(False, 20, FEW, 0))


def test_clusters_are_threads_and_events_where_there_are_many() -> None:
    assert len(set(subject_of(made()).clusters)) == 120
    threads = [f"t{i // 3}" for i in range(120)]
    assert subject_of(made(threads=threads)).clusters.tolist() == [i // 3 for i in range(120)]
    for n_events, n_clusters in ((9, 120), (10, 10)):
        events = [f"e{i % n_events}" for i in range(120)]
        assert len(set(subject_of(made(events=events)).clusters)) == n_clusters


def test_near_copies_join_threads_but_not_most_of_them() -> None:
    threads = [f"t{i // 3}" for i in range(120)]
    for n_copies, expected in ((2, 39), (60, 40)):
        posts = made(threads=threads)
        # One post each of some threads.
        posts.texts[: 3 * n_copies : 3] = "the same reply in several threads"
        subject = subject_of(posts)
        assert len(set(subject.clusters)) == expected
        assert subject.without_near_copies == (n_copies == 60)


def answered(posts: Posts, answer: Callable[[np.ndarray, str], np.ndarray]) -> tuple[list[Record], Benchmark]:
    """Runs under random folds and chrono whose answers a function of rows and protocol gives."""
    subject, model = subject_of(posts), Classifier(["non-rumour", "rumour"])
    splits = {protocol: subject.split(protocol) for protocol in (*RANDOM_FOLDS, CHRONO)}
    made_records = [
        generated.make_record(subject.benchmark, posts, protocol, split, answer(split.test, protocol), model)
        for protocol, split in splits.items()
    ]
    return made_records, subject.benchmark


def test_a_class_that_the_protocol_does_not_test_is_left_out_of_what_is_compared() -> None:
    labels = np.where(np.arange(200) < 150, np.arange(200) % 2, 0)
    posts = made(200, labels=labels)
    wrong_later = answered(
        posts, lambda rows, protocol: np.where((protocol == CHRONO) & (rows % 4 == 0), 1 - labels[rows], labels[rows])
    )
    (row,) = explain_posts(wrong_later[0], wrong_later[1], posts, n_resamples=FEW).rows
    assert (row.raw, row.pooled) == (None, None)
    # 10 of 40 are wrong: recall 0.75, precision 1.
    later = 100 * 2 * 0.75 / 1.75
    for effect in (row.matched, row.paired):
        assert effect
        assert (effect.random, effect.protocol) == pytest.approx((100, later))
    assert row.tests.t.test is None
    assert row.tests.mcnemar_p == pytest.approx(2 / 2**10)
    assert row.rescored
    assert row.rescored.class_mix is None
    assert row.rescored.remains.points == pytest.approx(100 - later)
    assert any("no rumour post is tested" in note for note in row.notes)


def test_a_leak_that_touches_nearly_all_posts_is_not_taken_out() -> None:
    posts = made(120)
    posts.texts[:] = [f"{posts.texts[0]} {i % 2}" for i in range(120)]
    found, benchmark = answered(posts, lambda rows, protocol: posts.labels[rows])
    (row,) = explain_posts(found, benchmark, posts, retrain=True, n_resamples=FEW).rows
    assert row.clusters == 1
    assert row.pooled
    assert row.pooled.clustered is None
    assert any("near_copy touches 120 test posts of the random folds" in note for note in row.notes)
    assert row.retrained is None
    assert any("not retrained" in note for note in row.notes)


def test_too_few_test_posts_have_no_scores_over_time() -> None:
    posts = made(120)
    found, benchmark = answered(posts, lambda rows, protocol: posts.labels[rows])
    (row,) = explain_posts(found, benchmark, posts, n_resamples=FEW).rows
    assert row.over_time is None
    assert "24 test posts are too few for scores over time: 50 are needed" in row.notes


def test_without_leaks_all_of_an_inflation_remains() -> None:
    posts = made(200)
    found, benchmark = answered(
        posts, lambda rows, protocol: np.where((protocol == CHRONO) & (rows % 3 == 0), 1, posts.labels[rows])
    )
    (row,) = explain_posts(found, benchmark, posts, n_resamples=FEW).rows
    assert row.rescored
    assert row.rescored.total > 5
    assert row.rescored.together.points == 0
    assert {leak.added.interval for leak in row.rescored.leaks} == {None}


def test_the_terminal_shows_all_rows_in_80_columns(whole: Explanation) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, markup=False, highlight=False)
    for block in tables(whole):
        console.print(block)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in stream.getvalue()
    for row in whole.rows:
        assert f"Sample: lr, random folds against {row.protocol}" in stream.getvalue()
        assert row.pooled
        (found,) = (line for line in lines if line.startswith(f" Sample, lr, {row.protocol} "))
        assert f"{row.pooled.points:+.1f}" in found


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", set[str](), list[str]()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_section_is_whole_html_that_escapes_names(records: list[Record]) -> None:
    name = '<script>alert("1")</script>'
    page = _Text()
    page.feed(section(explain([record | {"model": name} for record in records], n_resamples=FEW)))
    assert page.open == []
    assert "script" not in page.tags
    assert f"Sample: {name}, random folds against chrono" in page.text


def test_json_holds_everything_and_nothing_else(whole: Explanation) -> None:
    found = json.loads(json.dumps(whole.to_json(), allow_nan=False))
    assert [row["protocol"] for row in found["rows"]] == ["chrono", "chrono_stratified", "loo"]
    assert found["rows"][0]["rescored"]["leaks"][0]["name"] == "near_copy"
    assert found["rows"][0]["tests"]["t"]["test"] == "one-sample"


def test_scores_are_those_of_macro_prf(records: list[Record], whole: Explanation) -> None:
    (chrono,) = (record["predictions"] for record in records if record["protocol"] == CHRONO)
    plain = macro_prf(predictions=chrono["predictions"], references=chrono["references"])["f1"]
    raw = of(whole, CHRONO).raw
    assert raw
    assert raw.protocol == pytest.approx(100 * plain)


def test_known_parts_of_an_inflation_are_recovered() -> None:
    found = generated.simulate(generated.drawn, 8, n_resamples=200)
    for part in ("leak, rescored", "remains, rescored", "inflation, clustered"):
        truth, points = found[part][:, 0].mean(), found[part][:, 1]
        assert abs(points.mean() - truth) < 3 * points.std(ddof=1) / np.sqrt(len(points))
        assert generated.cover(found[part]) >= 0.75


def test_retraining_and_rescoring_find_the_leak_that_a_model_has_learnt() -> None:
    found = generated.simulate(generated.learnt, 4, n_resamples=100)
    for part in ("leak, rescored", "leak, retrained"):
        truth, points, low, high = found[part].mean(axis=0)
        assert low < truth < high
        assert 0.6 < points / truth < 1.4
