"""Any file of posts can be audited: it is read as text, split by a protocol, and refused in a sentence."""

import json

import datasets
import pandas as pd
import pytest

from temporal_rumors.audit import audit_splits, inputs
from temporal_rumors.errors import UserError

ROWS = [
    {"id": f"0{i}", "text": f"post number {i}", "label": ("yes", "no")[i % 2], "created_at": f"2024-01-{i + 1:02d}Z"}
    for i in range(20)
]


@pytest.fixture(params=inputs.SUFFIXES)
def file(request, tmp_path):
    path = tmp_path / f"posts{request.param}"
    frame = pd.DataFrame(ROWS)
    if request.param in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if request.param == ".tsv" else ",")
    elif request.param == ".parquet":
        frame.to_parquet(path)
    else:
        lines = [json.dumps(row) for row in ROWS]
        path.write_text("\n".join(lines) if request.param == ".jsonl" else f"[{','.join(lines)}]")
    return path


def test_every_kind_of_file_gives_the_same_parts_with_ids_whole(file):
    train, test, remarks = inputs.read_parts(str(file), "chrono")
    assert remarks == []
    assert train["id"].tolist() == [f"0{i}" for i in range(14)]
    assert test["id"].tolist() == [f"0{i}" for i in range(16, 20)]
    assert set(test["label"]) == {"yes", "no"}


def test_a_text_longer_than_the_csv_module_likes_and_one_over_several_lines_are_read(tmp_path):
    long, lines = "x" * 200_000, "one\r\ntwo, three"
    frame = pd.DataFrame([row | {"text": long if i else lines} for i, row in enumerate(ROWS)])
    frame.to_csv(tmp_path / "posts.csv", index=False, encoding="utf-8-sig")
    train, _, _ = inputs.read_parts(str(tmp_path / "posts.csv"), "chrono")
    assert train["text"].tolist() == [lines] + [long] * 13


def test_half_a_surrogate_pair_is_read(tmp_path):
    (tmp_path / "posts.jsonl").write_text(
        "\n".join(json.dumps(row | {"text": f"\ud83d {row['text']}"}) for row in ROWS)
    )
    train, test, _ = inputs.read_parts(str(tmp_path / "posts.jsonl"), "chrono")
    assert train["text"].tolist()[0] == "\ud83d post number 0"
    assert audit_splits(train, test).sizes == {"train": 14, "test": 4}


def test_integers_beside_missing_ones_stay_whole(tmp_path):
    frame = pd.DataFrame(ROWS).assign(event=pd.array([1234567890123456789, None] * 10, dtype="Int64"))
    frame.to_parquet(tmp_path / "posts.parquet")
    (tmp_path / "posts.jsonl").write_text(
        "\n".join(
            json.dumps(row | {"event": None if i % 2 else 1234567890123456789, "text": "a\u2028b"}, ensure_ascii=False)
            for i, row in enumerate(ROWS)
        ),
        encoding="utf-8",
    )
    for name in ("posts.parquet", "posts.jsonl"):
        train, test, _ = inputs.read_parts(str(tmp_path / name), "chrono")
        assert audit_splits(train, test).entry("same_event").n_test == 2


def test_a_file_without_labels_is_audited(tmp_path):
    pd.DataFrame(ROWS).drop(columns="label").to_csv(tmp_path / "posts.csv", index=False)
    train, test, _ = inputs.read_parts(str(tmp_path / "posts.csv"), "chrono")
    assert "absent_class" in audit_splits(train, test).not_checked


@pytest.mark.parametrize("name", ["csv", "json", "", "parquet"])
def test_the_name_of_a_kind_of_files_is_no_data_set(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="names a kind of files"):
        inputs.read_parts(name, None)


@pytest.mark.parametrize(
    "error", [RuntimeError("Dataset scripts\nare no longer supported"), ValueError("no"), KeyError("x")]
)
def test_whatever_a_data_set_brings_up_is_told_in_a_line(error, monkeypatch):
    def fail(name):
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(UserError, match="owner/name is no file, and no data set that can be loaded") as found:
        inputs.read_parts("owner/name", None)
    assert "\n" not in str(found.value)


def test_a_folder_is_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = datasets.Dataset.from_list(ROWS)
    for part, chosen in (("train", range(15)), ("test", range(15, 20))):
        rows.select(chosen).to_parquet(tmp_path / "owner" / "name" / f"{part}.parquet")
    train, test, _ = inputs.read_parts("owner/name", None)
    assert (len(train), len(test)) == (15, 5)


def test_posts_that_are_left_out_are_told(tmp_path):
    pd.DataFrame([row | ({} if i else {"created_at": ""}) for i, row in enumerate(ROWS)]).to_csv(
        tmp_path / "posts.csv", index=False
    )
    _, _, remarks = inputs.read_parts(str(tmp_path / "posts.csv"), "chrono")
    assert any("1 of 20 posts have no time" in remark for remark in remarks)


def test_a_data_set_with_parts_of_its_own_is_taken_as_it_is_or_split_anew(monkeypatch):
    rows = datasets.Dataset.from_list(ROWS)
    parts = datasets.DatasetDict({"train": rows.select(range(15)), "test": rows.select(range(15, 20))})
    monkeypatch.setattr(datasets, "load_dataset", lambda name: parts)
    train, test, _ = inputs.read_parts("owner/name", None)
    assert (len(train), len(test)) == (15, 5)
    train, test, _ = inputs.read_parts("owner/name", "chrono")
    assert (len(train), len(test)) == (14, 4)
    monkeypatch.setattr(datasets, "load_dataset", lambda name: datasets.DatasetDict({"train": rows}))
    with pytest.raises(UserError, match="owner/name has the parts train, not train and test: name a protocol"):
        inputs.read_parts("owner/name", None)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("nothing.csv", None, "nothing.csv cannot be read: No such file"),
        ("posts.txt", b"a", "posts.txt is no file of a known kind: expected one of .csv"),
        ("posts.csv", b"", "posts.csv: the file is empty"),
        ("posts.csv", b"id,text,label\n1,a,b\n2,c\n", "posts.csv, line 3: 2 cells, expected 3 as in the header"),
        ("posts.csv", b"id,text,label\n1,a,b,c\n", "posts.csv, line 2: 4 cells, expected 3 as in the header"),
        ("posts.csv", b'id,text,label\n1,"a,b\n', "posts.csv, line 2: not valid CSV"),
        ("posts.csv", b"id,text,label,label\n1,a,b,c\n", "more than one column 'label'"),
        ("posts.csv", b"id,text\n1,a\0\n", "posts.csv, line 2: a NUL character"),
        ("posts.csv", "id,text\n1,é\n".encode("latin-1"), "posts.csv, line 2: the byte 0xe9 is not UTF-8"),
        ("posts.jsonl", b"{", "posts.jsonl is no whole .jsonl file"),
        ("posts.json", b'{"id": 1}', "posts.json is no whole .json file: expected one object a post"),
        ("posts.json", b"[" * 100_000, "posts.json is no whole .json file"),
        ("posts.parquet", b"PAR1", "posts.parquet is no whole .parquet file"),
        ("posts.csv", b"\xff\xfe\x00", "posts.csv: the file is UTF-16: save it as UTF-8"),
        ("posts.csv", b"id,text\n1,a\n", "there is no column 'created_at'"),
    ],
)
def test_what_is_no_table_of_posts_is_told_by_name(tmp_path, monkeypatch, name, content, told):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as error:
        inputs.read_parts(name, "chrono")
    assert told in str(error.value)


def test_a_table_without_a_protocol_is_refused(tmp_path):
    (tmp_path / "posts.csv").write_text("id,text\n")
    with pytest.raises(UserError, match="is one table: name the protocol"):
        inputs.read_parts(str(tmp_path / "posts.csv"), None)


@pytest.mark.parametrize(("text", "value"), [("20", 20), (" 0 ", 0), ("0.25", 0.25)])
def test_a_whole_threshold_is_a_distance_and_another_one_a_share(text, value):
    found = inputs.threshold(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "x", "20 posts"])
def test_a_threshold_that_is_no_number_is_refused(text):
    with pytest.raises(UserError, match="is no number: expected a distance such as 20, or a share such as"):
        inputs.threshold(text)
