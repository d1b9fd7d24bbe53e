"""The LR baseline scores as a plain scikit-learn script does; the Model interface around it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from temporal_rumors import models
from temporal_rumors.errors import UserError
from temporal_rumors.models import Model

LABELS = ["true", "false", "unverified"]
GRID = (0.1, 1.0, 10.0, 100.0)


def corpus(n, n_classes, analyzer, seed):
    """Posts whose class shifts some words' probabilities, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    words = rng.zipf(1.4, (n, 14)) % 300
    words = np.where(rng.random((n, 14)) < 0.12, 300 + labels[:, None] * 5 + words % 5, words)
    if analyzer == "char":
        return ["".join(chr(0x4E00 + i) for i in row) for row in words], labels
    return [" ".join(f"w{i}" for i in row) for row in words], labels


def fitted(analyzer="word", n_classes=2, seed=0, **options):
    texts, labels = corpus(300, n_classes, analyzer, seed)
    model = models.create("lr", LABELS[:n_classes], analyzer=analyzer, **options)
    encoded = model.encode(texts)
    model.fit(encoded[np.arange(200)], labels[:200], encoded[np.arange(200, 240)], labels[200:240], seed=seed)
    return model, encoded, texts, labels


@pytest.mark.filterwarnings("error")  # among them ConvergenceWarning
@pytest.mark.parametrize("analyzer", ["word", "char"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_predictions_equal_those_of_a_plain_scikit_learn_script(analyzer, n_classes, seed):
    model, encoded, texts, labels = fitted(analyzer, n_classes, seed, vocabulary_size=400)
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 3), min_df=3, max_features=400)
    train = vectorizer.fit(texts[:200]).transform(texts[:200])
    best = -1.0
    for c in GRID:
        candidate = LogisticRegression(C=c, max_iter=1000).fit(train, labels[:200])
        found = f1_score(labels[200:240], candidate.predict(vectorizer.transform(texts[200:240])), average="macro")
        if found > best:
            best, plain = found, candidate
    test = vectorizer.transform(texts[240:])
    assert model.c == plain.C
    assert model.vocabularies[0].names() == vectorizer.get_feature_names_out().tolist()
    assert model.idf[0].tobytes() == vectorizer.idf_.tobytes()
    predictions = model.predict(encoded[np.arange(240, 300)])
    assert predictions.dtype == np.int64
    np.testing.assert_array_equal(predictions, plain.predict(test))
    np.testing.assert_allclose(
        model.predict_proba(encoded[np.arange(240, 300)]), plain.predict_proba(test), rtol=1e-12, atol=1e-15
    )


def test_of_equally_good_values_the_smallest_is_chosen():
    texts = ["good news"] * 10 + ["bad hoax"] * 10
    labels = np.repeat([0, 1], 10)
    model = models.create("lr", LABELS[:2], grid=[100.0, 1.0, 10.0])
    encoded = model.encode(texts)
    model.fit(encoded, labels, encoded, labels)
    assert model.c == 1.0
    assert model.settings["grid"] == [1.0, 10.0, 100.0]


def test_the_value_is_chosen_on_the_validation_part():
    chosen = {fitted(seed=seed)[0].c for seed in range(12)}
    assert len(chosen) > 1


def test_what_stands_outside_the_training_part_changes_no_weight():
    texts, labels = corpus(300, 2, "word", 1)
    rows = np.arange(0, 300, 2)
    model, alone = models.create("lr", LABELS[:2]), models.create("lr", LABELS[:2])
    encoded = model.encode(texts)
    model.fit(encoded[rows], labels[rows], encoded[rows[:30]], labels[rows[:30]])
    train = alone.encode([texts[i] for i in rows])
    alone.fit(train, labels[rows], alone.encode([texts[i] for i in rows[:30]]), labels[rows[:30]])
    assert model.vocabularies[0].names() == alone.vocabularies[0].names()
    assert model.coef.tobytes() == alone.coef.tobytes()
    assert model.intercept.tobytes() == alone.intercept.tobytes()


def test_the_seed_changes_nothing():
    texts, labels = corpus(200, 2, "word", 2)
    weights = set()
    for seed in (0, 1):
        model = models.create("lr", LABELS[:2])
        encoded = model.encode(texts)
        model.fit(encoded[np.arange(150)], labels[:150], encoded[np.arange(150, 200)], labels[150:], seed=seed)
        weights.add(model.coef.tobytes())
    assert model.deterministic
    assert len(weights) == 1


@pytest.mark.parametrize("absent", range(3))
def test_a_class_absent_from_training_is_never_predicted(absent):
    texts, labels = corpus(300, 3, "word", 3)
    model = models.create("lr", LABELS)
    encoded = model.encode(texts)
    rows = np.flatnonzero(labels != absent)
    model.fit(encoded[rows], labels[rows], encoded[np.arange(60)], labels[:60])
    probabilities = model.predict_proba(encoded)
    assert set(model.predict(encoded)) == {0, 1, 2} - {absent}
    assert (probabilities[:, absent] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_no_posts_get_no_predictions():
    model = fitted()[0]
    assert model.predict(model.encode([])).shape == (0,)
    assert model.predict_proba(model.encode([])).shape == (0, 2)


@pytest.fixture(scope="module", params=["word", "char"])
def saved(request, tmp_path_factory):
    model = fitted(request.param, 3)[0]
    folder = tmp_path_factory.mktemp("model") / "deep" / request.param
    model.save(folder)
    return model, Model.load(folder), folder


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    posts=st.lists(
        st.lists(st.integers(0, 320), max_size=12).map(lambda x: " ".join(f"w{i}" for i in x))
        | st.lists(st.integers(0, 320), max_size=12).map(lambda x: "".join(chr(0x4E00 + i) for i in x))
        | st.text(max_size=20),
        min_size=1,
    )
)
def test_a_loaded_model_predicts_as_the_saved_one_on_new_posts(saved, posts):
    model, loaded, _ = saved
    expected = model.predict_proba(model.encode(posts))
    np.testing.assert_array_equal(loaded.predict_proba(loaded.encode(posts)), expected)
    np.testing.assert_array_equal(loaded.predict(model.encode(posts)), model.predict(loaded.encode(posts)))
    one_by_one = [model.predict_proba(model.encode([post]))[0] for post in posts]
    np.testing.assert_array_equal(one_by_one, expected)


def test_a_saved_model_is_json_and_npz_and_the_same_bytes_each_time(saved, tmp_path):
    model, loaded, folder = saved
    loaded.save(tmp_path / "again")
    files = sorted(path.name for path in folder.iterdir())
    assert {name.rpartition(".")[2] for name in files} == {"json", "npz"}
    assert files == sorted(path.name for path in (tmp_path / "again").iterdir())
    for name in files:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert (loaded.name, loaded.labels, loaded.settings, loaded.c) == ("lr", LABELS, model.settings, model.c)


def test_saving_replaces_a_model_and_leaves_nothing_else(tmp_path):
    first, second = fitted(seed=0)[0], fitted(seed=1)[0]
    first.save(tmp_path / "model")
    second.save(tmp_path / "model")
    assert Model.load(tmp_path / "model").coef.tobytes() == second.coef.tobytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_interrupted_save_keeps_the_model_that_was_there(tmp_path, monkeypatch):
    first, second = fitted(seed=0)[0], fitted(seed=1)[0]
    first.save(tmp_path / "model")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupt)
    with pytest.raises(KeyboardInterrupt):
        second.save(tmp_path / "model")
    assert Model.load(tmp_path / "model").coef.tobytes() == first.coef.tobytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_saving_over_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="is no saved model"):
        fitted()[0].save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_model_of_another_version_is_not_loaded(tmp_path):
    fitted()[0].save(tmp_path / "model")
    meta = json.loads((tmp_path / "model" / "model.json").read_text())
    (tmp_path / "model" / "model.json").write_text(json.dumps({**meta, "version": "0"}))
    with pytest.raises(UserError, match=r"version 0 of lr saved it, this is .*: train it again"):
        Model.load(tmp_path / "model")


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "not a model"])
@pytest.mark.parametrize("file", ["model.json", "vocabulary.json", "weights.npz"])
def test_a_damaged_model_is_a_clear_error(tmp_path, file, damage):
    fitted()[0].save(tmp_path / "model")
    path = tmp_path / "model" / file
    whole = path.read_bytes()
    path.write_bytes({"cut": whole[: len(whole) // 2], "not a model": b"[1]"}.get(damage, b""))
    if damage == "missing":
        path.unlink()
    with pytest.raises(UserError, match="holds no model to load"):
        Model.load(tmp_path / "model")


def test_training_on_one_class_is_an_error():
    model = models.create("lr", LABELS[:2])
    encoded = model.encode(["some words"] * 5)
    with pytest.raises(UserError, match="all 5 training posts are 'false'"):
        model.fit(encoded, [1] * 5, encoded, [0, 1, 0, 1, 0])


@pytest.mark.parametrize("part", ["training", "validation"])
def test_an_empty_part_is_an_error(part):
    model = models.create("lr", LABELS[:2])
    some, none = (model.encode(["some words"] * 4), [0, 1, 0, 1]), (model.encode([]), [])
    with pytest.raises(UserError, match=f"the {part} part is empty"):
        model.fit(*(none if part == "training" else some), *(none if part == "validation" else some))


def test_too_few_posts_for_a_vocabulary_is_an_error():
    model = models.create("lr", LABELS[:2])
    encoded = model.encode(["one thing", "one other", "thing other"])
    with pytest.raises(UserError, match=r"no word n-gram stands in 3 or more of the 3 training posts"):
        model.fit(encoded, [0, 1, 0], encoded, [0, 1, 0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "3 posts but 2 labels"),
        ([0, 1, 2], "integers from 0 to 1"),
        ([0, 1, -1], "integers from 0 to 1"),
        ([0.0, 1.0, 0.0], "found float64"),
        (["true", "false", "true"], "integers from 0 to 1"),
        ([True, False, True], "found bool"),
    ],
)
def test_labels_that_do_not_fit_are_an_error(labels, message):
    model = models.create("lr", LABELS[:2])
    encoded = model.encode(["some words"] * 3)
    with pytest.raises(UserError, match=message):
        model.fit(encoded, labels, encoded, [0, 1, 0])
    with pytest.raises(UserError, match=message):
        model.fit(encoded, [0, 1, 0], encoded, labels)


def test_an_untrained_model_neither_predicts_nor_saves(tmp_path):
    model = models.create("lr", LABELS)
    encoded = model.encode(["some words"])
    for action in (
        lambda: model.predict(encoded),
        lambda: model.predict_proba(encoded),
        lambda: model.save(tmp_path / "x"),
    ):
        with pytest.raises(UserError, match="this lr model is not trained"):
            action()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("labels", [[], ["true"], ["true", "true"], "true"])
def test_class_names_must_be_two_or_more_and_differ(labels):
    with pytest.raises(UserError, match="two or more different class names"):
        models.create("lr", labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "char_wb"}, "unknown analyzer 'char_wb'; valid ones: word, char"),
        ({"vocabulary_size": 0}, "vocabulary_size=0"),
        ({"min_posts": 0}, "min_posts=0"),
        ({"grid": []}, "positive numbers"),
        ({"grid": [1.0, -1.0]}, "positive numbers"),
        ({"grid": [float("nan")]}, "positive numbers"),
        (
            {"analyser": "char"},
            r"unknown setting of lr 'analyser' \(did you mean 'analyzer'\?\); valid ones: analyzer,",
        ),
    ],
)
def test_settings_that_make_no_sense_are_errors(options, message):
    with pytest.raises(UserError, match=message):
        models.create("lr", LABELS, **options)


def test_an_unknown_model_is_an_error_that_lists_the_valid_ones():
    with pytest.raises(UserError, match=r"unknown model 'rl': .*lr"):
        models.create("rl", LABELS)


def test_settings_survive_json_so_that_a_run_key_can_hold_them():
    settings = models.create("lr", LABELS, grid=(1, 10)).settings
    assert json.loads(json.dumps(settings)) == settings
    assert settings == models.create("lr", LABELS, grid=[10.0, 1.0]).settings


def test_listing_models_imports_none_of_them():
    code = (
        "import sys; from temporal_rumors import models; assert 'lr' in models.available();"
        "print([m for m in sys.modules if m.split('.')[0] in ('sklearn', 'scipy', 'torch', 'transformers')"
        " or m.startswith('temporal_rumors.models.')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


# Several texts for each post


def with_context(n_classes=2, seed=0):
    """Posts, what each answers (nothing for one in four) and the source, with the labels of the posts."""
    texts, labels = corpus(300, n_classes, "word", seed)
    parents = [f"{texts[i - 1]} w{i % 7}" if i % 4 else "" for i in range(300)]
    sources = [texts[i // 10 * 10] for i in range(300)]
    return (texts, parents, sources), labels


def fitted_with_context(columns, labels, **options):
    model = models.create("lr", LABELS[: labels.max() + 1], **options)
    encoded = model.encode(*columns)
    model.fit(encoded[np.arange(200)], labels[:200], encoded[np.arange(200, 240)], labels[200:240])
    return model, encoded


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_several_texts_equal_vectorisers_side_by_side(n_classes, seed):
    columns, labels = with_context(n_classes, seed)
    model, encoded = fitted_with_context(columns, labels, vocabulary_size=400)
    vectorizers = [TfidfVectorizer(ngram_range=(1, 3), min_df=3, max_features=400).fit(c[:200]) for c in columns]

    def features(rows):
        return hstack([v.transform(c[rows]) for v, c in zip(vectorizers, columns, strict=True)], format="csr")

    best = -1.0
    for c in GRID:
        candidate = LogisticRegression(C=c, max_iter=1000).fit(features(slice(200)), labels[:200])
        found = f1_score(labels[200:240], candidate.predict(features(slice(200, 240))), average="macro")
        if found > best:
            best, plain = found, candidate
    test = features(slice(240, 300))
    assert model.c == plain.C
    for vocabulary, idf, vectorizer in zip(model.vocabularies, model.idf, vectorizers, strict=True):
        assert vocabulary.names() == vectorizer.get_feature_names_out().tolist()
        assert idf.tobytes() == vectorizer.idf_.tobytes()
    assert model.fitted["n_features"] == test.shape[1]
    np.testing.assert_array_equal(model.predict(encoded[np.arange(240, 300)]), plain.predict(test))
    np.testing.assert_allclose(
        model.predict_proba(encoded[np.arange(240, 300)]), plain.predict_proba(test), rtol=1e-12, atol=1e-15
    )


def test_what_a_post_answers_has_features_of_its_own():
    """The same words as post and as parent mean the opposite here, so that only their place tells."""
    columns = (["yes", "no"] * 20, ["no", "yes"] * 20)
    labels = np.array([0, 1] * 20)
    model = models.create("lr", LABELS[:2])
    encoded = model.encode(*columns)
    model.fit(encoded, labels, encoded, labels)
    assert [v.names() for v in model.vocabularies] == [["no", "yes"], ["no", "yes"]]
    assert model.predict(model.encode(["yes", "no"], ["no", "yes"])).tolist() == [0, 1]
    swapped = model.predict_proba(model.encode(["no", "yes"], ["no", "yes"]))
    np.testing.assert_allclose(swapped, 0.5, atol=1e-6)


def test_a_saved_model_of_several_texts_predicts_as_before(tmp_path):
    columns, labels = with_context(3, 1)
    model, encoded = fitted_with_context(columns, labels)
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.predict_proba(loaded.encode(*(c[:50] for c in columns))), model.predict_proba(encoded[np.arange(50)])
    )
    assert [v.names() for v in loaded.vocabularies] == [v.names() for v in model.vocabularies]
    assert loaded.fitted == model.fitted
    loaded.save(tmp_path / "again")
    for path in (tmp_path / "model").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


@pytest.mark.parametrize("n", [1, 2])
def test_another_number_of_texts_than_in_training_is_refused(tmp_path, n):
    columns, labels = with_context()
    model, _ = fitted_with_context(columns, labels)
    model.save(tmp_path / "model")
    for trained in (model, Model.load(tmp_path / "model")):
        with pytest.raises(UserError, match=f"trained with 3 texts a post, now given {n}"):
            trained.predict(trained.encode(*columns[:n]))
    other = models.create("lr", LABELS[:2])
    train, validation = other.encode(*columns), other.encode(*columns[:n])
    with pytest.raises(UserError, match=f"trained with 3 texts a post, now given {n}"):
        other.fit(train, labels, validation, labels)


@pytest.mark.filterwarnings("error")
def test_a_text_that_is_blank_everywhere_changes_nothing(tmp_path):
    (texts, parents, _), labels = with_context()
    blank = [""] * len(texts)
    plain, encoded = fitted_with_context((texts, parents), labels)
    model, with_blank = fitted_with_context((texts, blank, parents), labels)
    assert [len(v) for v in model.vocabularies] == [len(plain.vocabularies[0]), 0, len(plain.vocabularies[1])]
    np.testing.assert_array_equal(model.predict_proba(with_blank), plain.predict_proba(encoded))
    model.save(tmp_path / "model")
    loaded = Model.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(with_blank), plain.predict_proba(encoded))
    # Nor do words that training never showed in that place.
    np.testing.assert_array_equal(
        loaded.predict_proba(loaded.encode(texts, texts, parents)), plain.predict_proba(encoded)
    )


def test_texts_that_are_all_blank_are_an_error():
    model = models.create("lr", LABELS[:2])
    encoded = model.encode([""] * 6, [""] * 6)
    with pytest.raises(UserError, match=r"no word n-gram stands in 3 or more of the 6 training posts"):
        model.fit(encoded, [0, 1] * 3, encoded, [0, 1] * 3)


def test_columns_of_unequal_length_are_an_error():
    model = models.create("lr", LABELS[:2])
    with pytest.raises(UserError, match=r"\b6\b.*\b5\b|\b5\b.*\b6\b"):
        model.encode(["some words"] * 6, ["some words"] * 5)
