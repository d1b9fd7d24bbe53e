"""`temporal_rumors.split`: any Dataset or DataFrame, the same parts whatever the form, and nothing guessed."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import warnings
from decimal import Decimal
from itertools import chain
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import temporal_rumors
from temporal_rumors import protocols
from temporal_rumors.errors import UserError

# Every test in this file runs at two ends of the world, with the same expectations.
pytestmark = pytest.mark.usefixtures("time_zone")

SIZE = 60
PROTOCOLS = ["random_fold0", "random_fold4", "chrono", "chrono_stratified", "loo_ferry"]


def invented(n: int = SIZE) -> pd.DataFrame:
    """Posts by arithmetic alone, several a minute, not in time order, with an index that is no row number."""
    numbers = np.arange(n)
    minutes = (numbers * 37 % n) ** 2 // 9
    return pd.DataFrame(
        {
            "id": [f"post-{i * 7 % n}" for i in range(n)],
            "text": [f"The ferry is late, says message {i}" for i in range(n)],
            "label": (numbers % 5 < 2).astype(int),
            "created_at": pd.Timestamp("2014-08-09T16:00", tz="UTC") + pd.to_timedelta(minutes, unit="min"),
            "topic": [("ferry", "harbour", "marathon")[i // 4 % 3] for i in range(n)],
        },
        index=range(1000, 1000 + n),
    )


def split(dataset: Any, protocol: str = "chrono", **options: Any) -> Any:
    return temporal_rumors.split(dataset, protocol, event_column="topic", **options)


def texts(parts: Any) -> list[list[str]]:
    return [list(parts[part]["text"]) for part in protocols.PARTS]


def with_times(times: Any, n: int = SIZE) -> pd.DataFrame:
    return invented(n).assign(created_at=times)


# The same parts, whatever the form


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_dataset_and_a_frame_give_what_the_protocol_gives(protocol: str) -> None:
    frame = invented()
    expected = protocols.make_split(
        protocol,
        ids=list(frame["id"]),
        times=frame["created_at"].dt.tz_localize(None).to_numpy(),
        labels=list(frame["label"]),
        events=list(frame["topic"]),
    )
    rows = [[frame["text"].iloc[i] for i in part] for part in expected.parts().values()]
    assert texts(split(frame, protocol)) == rows
    assert texts(split(datasets.Dataset.from_pandas(frame, preserve_index=False), protocol)) == rows


def test_a_frame_comes_back_as_frames_with_all_columns_and_the_index() -> None:
    frame = invented()
    parts = split(frame)
    assert list(parts) == ["train", "validation", "test"]
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 42, "validation": 6, "test": 12}
    pd.testing.assert_frame_equal(pd.concat(parts.values()).sort_index(), frame)


def test_a_dataset_comes_back_as_a_dataset_dict_with_features_and_format() -> None:
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["non-rumour", "rumour"]),
            "created_at": datasets.Value("timestamp[ms, tz=UTC]"),
            "topic": datasets.Value("string"),
        }
    )
    dataset = datasets.Dataset.from_pandas(invented(), preserve_index=False).cast(features).with_format("numpy")
    parts = split(dataset)
    assert isinstance(parts, datasets.DatasetDict)
    assert parts.num_rows == {"train": 42, "validation": 6, "test": 12}
    for part in parts.values():
        assert part.features == features
        assert part.format["type"] == "numpy"
    assert texts(parts) == texts(split(invented()))


def test_a_dataset_with_selected_and_shuffled_rows_is_read_as_it_stands() -> None:
    dataset = datasets.Dataset.from_pandas(invented(), preserve_index=False)
    assert texts(split(dataset.shuffle(seed=1))) == texts(split(dataset))
    half = dataset.select(range(0, SIZE, 2))
    assert sorted(chain(*texts(split(half)))) == sorted(half["text"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("keyed", [True, False])
@given(rows=st.permutations(range(SIZE)))
@settings(max_examples=5)
def test_order_of_rows_and_columns_changes_nothing(protocol: str, keyed: bool, rows: list[int]) -> None:
    frame = invented() if keyed else invented().drop(columns="id")
    shuffled = frame.iloc[rows, ::-1]
    assert texts(split(shuffled, protocol)) == texts(split(frame, protocol))


def test_the_seed_is_passed_on() -> None:
    frame = invented()
    assert texts(split(frame, "random_fold0", seed=1)) != texts(split(frame, "random_fold0"))


def test_columns_of_any_name_are_used() -> None:
    names = {"id": "key", "label": "verdict", "created_at": "when"}
    renamed = invented().rename(columns=names)
    options = {"id_column": "key", "label_column": "verdict", "time_column": "when"}
    for protocol in PROTOCOLS:
        assert texts(split(renamed, protocol, **options)) == texts(split(invented(), protocol))


# Times

WHEN = list(invented()["created_at"])
NAIVE_IN_SHANGHAI = [t.tz_convert("Asia/Shanghai").tz_localize(None) for t in WHEN]


@pytest.mark.parametrize(
    "times",
    [
        [t.to_pydatetime() for t in WHEN],
        [t.tz_convert("America/New_York") for t in WHEN],
        [t.tz_convert(["Asia/Shanghai", "Europe/London"][i % 2]) for i, t in enumerate(WHEN)],
        [t.isoformat() for t in WHEN],
        [t.isoformat().replace("+00:00", "Z") for t in WHEN],
        [t.tz_convert("Asia/Shanghai").isoformat(" ") for t in WHEN],
        [int(t.timestamp()) for t in WHEN],
        [str(int(t.timestamp())) for t in WHEN],
        [int(t.timestamp()) * 1000 for t in WHEN],
        np.array([int(t.timestamp()) for t in WHEN], dtype=np.int32),
        pd.array([int(t.timestamp()) for t in WHEN], dtype="Int64"),
        pd.array(WHEN, dtype=pd.ArrowDtype(pa.timestamp("us", "UTC"))),
        pd.Series(WHEN, dtype=object).to_numpy(),
    ],
    ids=range(13),
)
def test_times_in_any_exact_form_give_the_same_parts(times: Any) -> None:
    frame = with_times(times)
    expected = texts(split(invented()))
    assert texts(split(frame)) == expected
    assert texts(split(frame, time_zone="Asia/Shanghai")) == expected


@pytest.mark.parametrize(
    "times",
    [
        NAIVE_IN_SHANGHAI,
        [t.to_pydatetime() for t in NAIVE_IN_SHANGHAI],
        [t.isoformat() for t in NAIVE_IN_SHANGHAI],
        np.array([t.to_datetime64() for t in NAIVE_IN_SHANGHAI], dtype="datetime64[ns]"),
    ],
    ids=range(4),
)
def test_times_without_a_zone_are_refused_until_it_is_named(times: Any) -> None:
    frame = with_times(times)
    for dataset in (frame, datasets.Dataset.from_pandas(frame, preserve_index=False)):
        with pytest.raises(UserError, match=r"'created_at', row 0 .*names no time zone.*time_zone="):
            split(dataset)
        assert texts(split(dataset, time_zone="Asia/Shanghai")) == texts(split(invented()))


def test_the_named_zone_is_the_one_that_counts() -> None:
    """Read in New York the first of the two latest posts is the later one, read in UTC the earlier."""
    frame = with_times([f"2014-11-02T{i % 24:02}:{i % 60:02}:00Z" for i in range(SIZE)])
    first, second = "2014-11-02T23:59:50", "2014-11-03T04:59:40Z"
    frame["created_at"] = [first, second, *frame["created_at"].iloc[2:].str.replace("11-02", "11-01")]
    ordered = {zone: texts(split(frame, time_zone=zone))[2][-2:] for zone in ("America/New_York", "UTC")}
    assert ordered["UTC"] == list(frame["text"].iloc[:2])
    assert ordered["America/New_York"] == list(frame["text"].iloc[1::-1])


def test_dates_are_read_as_midnight() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(SIZE)]
    with pytest.raises(UserError, match="names no time zone"):
        split(with_times(days))
    assert texts(split(with_times(days), time_zone="UTC"))[2] == list(invented()["text"].iloc[-12:])


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_a_fraction_below_a_millisecond_decides_the_order(unit: str) -> None:
    times = pd.Series(np.datetime64("2020-01-01", unit) + np.arange(SIZE)[::-1]).dt.tz_localize("UTC").array
    expected = list(invented()["text"].iloc[11::-1])
    frame = with_times(times)
    assert texts(split(frame))[2] == expected
    assert texts(split(datasets.Dataset.from_pandas(frame, preserve_index=False)))[2] == expected


@pytest.mark.parametrize("missing", [None, pd.NaT, ""])
@pytest.mark.parametrize("as_dataset", [True, False])
def test_posts_without_a_time_are_left_out_aloud_or_kept(missing: Any, as_dataset: bool) -> None:
    times = [t.isoformat() for t in WHEN] if missing == "" else list(WHEN)
    times[3] = times[8] = missing
    frame = with_times(times)
    dataset = datasets.Dataset.from_pandas(frame, preserve_index=False) if as_dataset else frame
    left_out = set(frame["text"].iloc[[3, 8]])
    for protocol in ("chrono", "chrono_stratified"):
        with pytest.warns(UserWarning, match=f"^2 of 60 posts have no time in 'created_at' .* left out of {protocol}$"):
            parts = split(dataset, protocol)
        assert set(frame["text"]) - set(chain(*texts(parts))) == left_out
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for protocol in ("random_fold0", "loo_ferry"):
            assert set(chain(*texts(split(dataset, protocol)))) == set(frame["text"])


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(UserWarning, match="^1 of 60 posts") as caught:
        temporal_rumors.split(with_times([None, *WHEN[1:]]), "chrono")
    assert [w.filename for w in caught] == [__file__]


def test_no_time_at_all_is_refused() -> None:
    with pytest.raises(UserError, match="no post has a time"):
        split(with_times([None] * SIZE))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("yesterday", "the time 'yesterday' is not understood"),
        ("09/08/2014 16:00", "is not understood"),
        (20140809, "the time '20140809' is not understood"),
        (-1407600000, "is not understood"),
        (1407600000000000, "is not understood"),
        (1407600000.0, "the time 1407600000.0 is a float"),
        (True, "the time True is a bool"),
        (dt.timedelta(1), "is a timedelta"),
        (dt.datetime(9999, 12, 31, tzinfo=dt.timezone.utc), "is not between 1678 and 2262"),
    ],
)
def test_times_that_are_not_understood_are_refused(wrong: Any, message: str) -> None:
    times = pd.Series([*WHEN[:2], wrong, *WHEN[3:]], dtype=object).array
    with pytest.raises(UserError, match=f"^'created_at', row 2 .*{message}"):
        split(with_times(times))


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(UserError, match="time zone 'Peking' is unknown"):
        split(with_times(NAIVE_IN_SHANGHAI), time_zone="Peking")


# Ids


@pytest.mark.parametrize("dtype", ["int64", "object", "string", "UInt64", "category"])
def test_integer_ids_are_as_good_as_their_digits(dtype: str) -> None:
    base = 498_000_000_000_000_001
    numbers = [base + i * 7 % SIZE for i in range(SIZE)]
    expected = texts(split(invented().assign(id=[str(n) for n in numbers])))
    frame = invented().assign(id=pd.Series(numbers, index=invented().index).astype(dtype))
    assert texts(split(frame)) == expected
    assert texts(split(datasets.Dataset.from_pandas(frame.astype({"id": "int64"}), preserve_index=False))) == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (5.00378e17, r"row 4 .* 5\.00378e\+17 is a float, so its last digits may be lost"),
        (None, r"row 4 \(from 0\) has no id in 'id'.*id_column="),
        (float("nan"), "row 4 .* has no id"),
        ("", "row 4 .* has no id"),
        (True, "row 4 .* True is a bool"),
        ("post-0", "the id 'post-0' stands 2 times in 'id'.*id_column="),
        (7, "the id '7' stands 2 times"),
    ],
)
def test_ids_that_do_not_name_one_post_are_refused(wrong: Any, message: str) -> None:
    ids = list(invented()["id"])
    ids[4], ids[5] = wrong, "7"
    with pytest.raises(UserError, match=message):
        split(invented().assign(id=pd.Series(ids, index=invented().index, dtype=object)))


def test_numpy_scalars_are_what_they_hold() -> None:
    columns = {
        "id": [np.int64(10**17 + i) for i in range(SIZE)],
        "label": [np.int8(i % 2) for i in range(SIZE)],
        "created_at": [np.int64(10**9 + i // 3) for i in range(SIZE)],
    }
    plain = {name: [value.item() for value in values] for name, values in columns.items()}
    parts = [temporal_rumors.split(pd.DataFrame(c, dtype=object), "random_fold0") for c in (columns, plain)]
    assert [list(p.index) for p in parts[0].values()] == [list(p.index) for p in parts[1].values()]


def test_float_ids_of_a_dataset_are_refused() -> None:
    dataset = datasets.Dataset.from_pandas(invented().assign(id=np.arange(SIZE) * 1.0), preserve_index=False)
    with pytest.raises(UserError, match="last digits may be lost"):
        split(dataset)


def test_another_column_of_ids_is_used_where_it_is_named() -> None:
    frame = invented().assign(id="all the same", key=invented()["id"])
    assert texts(split(frame, id_column="key")) == texts(split(invented()))


# Rows without ids


def test_equal_rows_without_ids_are_interchangeable() -> None:
    frame = invented().drop(columns="id").iloc[[0] * 10 + [1] * 10 + list(range(2, 22))]
    parts = [texts(split(frame.iloc[rows], "random_fold0")) for rows in (range(40), range(39, -1, -1))]
    assert parts[0] == parts[1]
    assert sorted(chain(*parts[0])) == sorted(frame["text"])


def test_rows_without_ids_are_keyed_alike_in_frames_and_datasets() -> None:
    frame = (
        invented()
        .drop(columns="id")
        .assign(
            author=[None if i % 9 == 0 else f"author {i % 4}" for i in range(SIZE)],
            likes=[float(i % 3) for i in range(SIZE)],
            links=[[f"https://example.org/{j}" for j in range(i % 3)] for i in range(SIZE)],
            seen=pd.Timestamp("2020-02-02T02:02:02.000200", tz="Asia/Shanghai"),
            raw=[bytes([i % 7]) for i in range(SIZE)],
            price=[Decimal(i % 2) for i in range(SIZE)],
            mood=pd.Categorical(["calm", "cross"] * (SIZE // 2)),
        )
    )
    dataset = datasets.Dataset.from_pandas(frame, preserve_index=False)
    for protocol in PROTOCOLS:
        assert texts(split(frame, protocol)) == texts(split(dataset, protocol))


def test_a_time_is_the_same_cell_in_any_zone() -> None:
    frame = invented().drop(columns="id").assign(seen=WHEN)
    moved = frame.assign(seen=frame["seen"].dt.tz_convert("Asia/Shanghai"))
    assert texts(split(moved, "random_fold0")) == texts(split(frame, "random_fold0"))


def test_any_cell_tells_rows_without_ids_apart() -> None:
    """At one time, all rows equal but for one column: the key alone orders them, so a reversal changes nothing."""
    frame = pd.DataFrame({"created_at": WHEN[0], "label": 1, "text": [f"{i}" for i in range(SIZE)]})
    assert texts(temporal_rumors.split(frame, "chrono")) == texts(temporal_rumors.split(frame.iloc[::-1], "chrono"))


@pytest.mark.parametrize("cell", [object(), {1, 2}, {("a", 1): 2}])
def test_rows_that_have_no_lasting_form_need_ids(cell: Any) -> None:
    frame = invented().assign(extra=pd.Series([cell] * SIZE, index=invented().index))
    assert len(split(frame)["test"]) == 12
    with pytest.raises(UserError, match="id_column="):
        split(frame.drop(columns="id"))


# Labels


@pytest.mark.parametrize(
    "labels",
    [
        ["a" if y == 0 else "b" for y in invented()["label"]],
        pd.Categorical(["a" if y == 0 else "b" for y in invented()["label"]], categories=["b", "c", "a"]),
        invented()["label"].astype(bool),
        invented()["label"].astype("Int8"),
        invented()["label"].astype("string"),
        ["None" if y == 0 else "Some" for y in invented()["label"]],
    ],
    ids=range(6),
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_labels_may_be_text_integers_booleans_or_categories(labels: Any, protocol: str) -> None:
    frame = invented().assign(label=labels)
    assert texts(split(frame, protocol)) == texts(split(invented(), protocol))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, None, None], r"2 rows have no label in 'label', the first is row 2 \(from 0\)"),
        ([0, 1, None, 1.0], "1 rows have no label"),
        (["a", "b", " ", "a"], "1 rows have no label in 'label', the first is row 2"),
        ([0.0, 1.0, 0.0, 1.0], r"row 0 .* the label 0\.0 in 'label' is a float"),
        ([0, 1, "1", 0], "found int, str"),
        ([0, 1, True, 0], "found bool, int"),
        ([[0], [1], [0], [1]], "found list"),
    ],
)
@pytest.mark.parametrize("protocol", ["random_fold0", "chrono_stratified", "loo_ferry"])
def test_labels_that_name_no_class_are_refused(labels: list[Any], message: str, protocol: str) -> None:
    frame = invented().assign(label=pd.Series(labels * (SIZE // 4), index=invented().index, dtype=object))
    frame["label"] = frame["label"].infer_objects() if isinstance(labels[0], float) else frame["label"]
    with pytest.raises(UserError, match=message.replace("2 rows", "30 rows").replace("1 rows", "15 rows")):
        split(frame, protocol)


def test_a_class_label_that_is_not_told_is_refused() -> None:
    dataset = datasets.Dataset.from_pandas(invented(), preserve_index=False)
    dataset = dataset.cast_column("label", datasets.ClassLabel(names=["no", "yes"]))
    hidden = dataset.map(lambda row, i: {"label": -1 if i < 2 else row["label"]}, with_indices=True)
    with pytest.raises(UserError, match="2 rows have no label in 'label', the first is row 0"):
        split(hidden)


def test_posts_without_classes_can_be_split_by_time_alone() -> None:
    bare = invented().drop(columns="label")
    parts = split(bare, "chrono", label_column=None)
    assert sorted(len(part) for part in parts.values()) == sorted(len(part) for part in split(invented()).values())
    with pytest.raises(UserError, match="needs the class of each post"):
        split(bare, "chrono_stratified", label_column=None)


def test_what_a_split_does_not_guarantee_is_told() -> None:
    n = 20
    frame = pd.DataFrame(
        {
            "text": [str(i) for i in range(n)],
            "label": ["a"] * 14 + ["b"] * 6,
            "created_at": pd.date_range("2024-01-01", periods=n, tz="UTC"),
        }
    )
    with pytest.warns(UserWarning, match="^chrono: ") as told:
        temporal_rumors.split(frame, "chrono")
    assert [str(w.message) for w in told] == [
        "chrono: no b post in the train part",
        "chrono: no a post in the validation part",
        "chrono: no a post in the test part",
    ]
    with pytest.warns(
        UserWarning, match=r"chrono_stratified: \d of 1\d training posts are newer than the first test post"
    ):
        temporal_rumors.split(frame, "chrono_stratified")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        temporal_rumors.split(frame, "random_fold0")


# Events


def test_a_column_called_event_is_taken_without_being_named() -> None:
    frame = invented().rename(columns={"topic": "event"})
    parts = temporal_rumors.split(frame, "loo_ferry")
    assert set(parts["test"]["event"]) == {"ferry"}


def test_posts_without_an_event_are_left_out_aloud() -> None:
    frame = invented()
    topics = [None if i in (1, 2, 30) else topic for i, topic in enumerate(frame["topic"])]
    with pytest.warns(UserWarning, match="^3 of 60 posts have no event in 'topic' and are left out of loo_ferry$"):
        parts = split(frame.assign(topic=topics), "loo_ferry")
    assert set(parts["test"]["topic"]) == {"ferry"}
    assert sum(map(len, parts.values())) == SIZE - 3


def test_integer_events_are_named_by_their_digits() -> None:
    frame = invented().assign(topic=[{"ferry": 3, "harbour": 5, "marathon": 7}[t] for t in invented()["topic"]])
    assert texts(split(frame, "loo_3")) == texts(split(invented(), "loo_ferry"))


def test_events_that_are_not_names_are_refused() -> None:
    with pytest.raises(UserError, match=r"'topic', row 0 .* 1\.5 is a float"):
        split(invented().assign(topic=1.5), "loo_1.5")


def test_leaving_one_event_out_needs_the_column_of_events() -> None:
    with pytest.raises(UserError, match=r"loo_ferry needs .*'created_at', 'topic': name the right one with event_col"):
        temporal_rumors.split(invented(), "loo_ferry")


@pytest.mark.parametrize("protocol", ["loo_volcano", "random", "random_fold9"])
def test_an_unknown_protocol_is_refused_with_the_valid_ones(protocol: str) -> None:
    with pytest.raises(UserError, match=f"unknown protocol '{protocol}'.*chrono_stratified, loo_ferry, loo_harbour"):
        split(invented(), protocol)


# What is refused as a whole


@pytest.mark.parametrize(
    ("argument", "protocol"),
    [
        ("time_column", "random_fold0"),
        ("label_column", "chrono"),
        ("event_column", "chrono"),
        ("id_column", "chrono"),
    ],
)
@pytest.mark.parametrize("as_dataset", [True, False])
def test_a_missing_column_is_refused_with_those_there_are(argument: str, protocol: str, as_dataset: bool) -> None:
    frame = invented()
    dataset = datasets.Dataset.from_pandas(frame, preserve_index=False) if as_dataset else frame
    found = "'id', 'text', 'label', 'created_at', 'topic'"
    with pytest.raises(UserError, match=f"no column 'nowhere', found the columns {found}: name .* with {argument}="):
        temporal_rumors.split(dataset, protocol, **{argument: "nowhere"})


def test_a_column_that_stands_twice_is_refused() -> None:
    frame = invented()
    with pytest.raises(UserError, match="more than one column 'label'"):
        split(pd.concat([frame, frame[["label"]]], axis=1))


@pytest.mark.parametrize("empty", [invented().iloc[:0], datasets.Dataset.from_dict({}), pd.DataFrame()])
def test_an_empty_set_is_refused(empty: Any) -> None:
    with pytest.raises(UserError, match="holds no rows"):
        split(empty)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(UserError, match="3 posts are too few for this protocol: the validation part would be empty"):
        split(invented(3))


DATASET = datasets.Dataset.from_dict({"label": [0, 1]})
PRETENDED = {  # classes of libraries that need not be installed
    kind: type(kind.rpartition(".")[2], (), {"__module__": f"polars.{kind.split('.')[1]}.frame"})()
    for kind in ("polars.dataframe.DataFrame", "polars.lazyframe.LazyFrame")
}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (datasets.DatasetDict(train=DATASET), r"found datasets.DatasetDict, .*concatenate_datasets"),
        (DATASET.to_iterable_dataset(), r"found datasets.IterableDataset, .*without streaming=True"),
        (datasets.IterableDatasetDict(train=DATASET.to_iterable_dataset()), "without streaming=True"),
        ([{"label": 0}], r"found list, .*from_list\(rows\)"),
        ({"label": [0]}, r"found dict, .*from_dict\(columns\)"),
        ("pheme_temporal", r"found str, .*load_dataset\(name, protocol\)"),
        (pa.table({"label": [0]}), r"found pyarrow.Table, .*to_pandas\(\)"),
        (PRETENDED["polars.dataframe.DataFrame"], r"found polars.DataFrame, .*from_polars\(frame\)"),
        (PRETENDED["polars.lazyframe.LazyFrame"], r"found polars.LazyFrame, .*collect\(\)"),
        (pd.Series([0]), "found pandas.Series, expected a datasets.Dataset or a pandas.DataFrame"),
        (None, "found NoneType, expected"),
    ],
)
def test_anything_else_is_refused_with_advice(given: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        split(given)


# What it costs


def test_a_library_that_is_not_used_is_not_imported() -> None:
    program = (
        "import sys, temporal_rumors.frames\n"
        "print([name for name in ('pandas', 'datasets') if name in sys.modules])\n"
        "import pandas\n"
        "frame = pandas.DataFrame({'label': [0, 1] * 5, 'created_at': range(10**9, 10**9 + 10)})\n"
        "print(len(temporal_rumors.split(frame, 'chrono')['test']))\n"
        "print('datasets' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split("\n") == ["[]", "2", "False", ""], ran.stderr
