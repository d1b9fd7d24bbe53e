"""N-gram counts: the same as scikit-learn's, whatever the text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from temporal_rumors.errors import UserError
from temporal_rumors.models import lr
from temporal_rumors.models.lr import ngrams
from temporal_rumors.models.lr.ngrams import Terms, count_ngrams

# Case that changes length (İ, ẞ), spaces that are not ASCII, characters that are no word, and half a surrogate pair.
AWKWARD = "aAbB1_ \t\n\u00a0\u2028\u3000\u200béÉe\u0301İıßẞΣςﬀ٣²中文#@'-\U0001f600\U0001f3fd\u200d\x00\x1f\ud800"
texts_of_few_characters = st.text(st.sampled_from(AWKWARD), max_size=15)
texts_of_few_words = st.lists(st.sampled_from(["ab", "AB", "ab_", "a", "éa", "b2", "😀", "İstanbul"]), max_size=6).map(
    " ".join
)
any_texts = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"]), max_size=15)
corpora = st.lists(texts_of_few_characters | texts_of_few_words | any_texts, min_size=1, max_size=12)
analyzers = st.sampled_from(["word", "char"])


def assert_same_matrix(found, expected):
    assert found.shape == expected.shape
    assert (found.data.dtype, found.indices.dtype) == (expected.data.dtype, expected.indices.dtype)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    assert found.data.tobytes() == expected.data.tobytes()


def zipf_posts(n, vocabulary, analyzer, seed):
    """Posts whose n-grams tie in frequency by the thousand."""
    rng = np.random.default_rng(seed)
    if analyzer == "char":
        return ["".join(map(chr, 0x4E00 + rng.zipf(1.3, 12) % vocabulary)) for _ in range(n)]
    return [" ".join(f"w{i}" for i in rng.zipf(1.3, 12) % vocabulary) for _ in range(n)]


@settings(max_examples=150)
@given(corpora, analyzers)
def test_counts_and_names_equal_scikit_learn(texts, analyzer):
    found = count_ngrams(texts, analyzer)
    vectorizer = CountVectorizer(analyzer=analyzer, ngram_range=(1, 3), dtype=np.float64)
    try:
        expected = vectorizer.fit_transform(texts)
    except ValueError:  # nothing to count
        assert len(found.terms) == 0
        return
    assert found.terms.names() == vectorizer.get_feature_names_out().tolist()
    assert_same_matrix(found.counts, expected[:, np.arange(expected.shape[1])].sorted_indices())


@settings(max_examples=200)
@given(corpora, analyzers, st.integers(1, 4), st.integers(1, 12), st.data())
def test_vocabulary_and_tfidf_equal_scikit_learn_bit_for_bit(texts, analyzer, min_posts, size, data):
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 3), min_df=min_posts, max_features=size)
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=12)))
    try:
        vectorizer.fit([texts[i] for i in rows])
    except ValueError:
        assert min_posts > len(rows) or len(count_ngrams(texts, analyzer)[rows].vocabulary(size, min_posts)) == 0
        return
    encoded = count_ngrams(texts, analyzer)
    train = encoded[rows]
    vocabulary = train.vocabulary(size, min_posts)
    assert vocabulary.names() == vectorizer.get_feature_names_out().tolist()
    for part, part_texts in [(train, [texts[i] for i in rows]), (encoded, texts)]:
        expected = vectorizer.transform(part_texts)
        assert_same_matrix(lr._tfidf(part.count(vocabulary), vectorizer.idf_), expected)


@pytest.mark.parametrize("analyzer", ["word", "char"])
@pytest.mark.parametrize("seed", range(3))
def test_ties_at_the_cut_are_broken_as_scikit_learn_breaks_them(analyzer, seed):
    texts = zipf_posts(900, 400, analyzer, seed)
    rows = np.random.default_rng(seed).permutation(len(texts))[:600]
    train = count_ngrams(texts, analyzer)[rows]
    everything = train.vocabulary(10**9, 3)
    frequency = np.sort(train.count(everything).toarray().sum(axis=0))[::-1]
    size = len(everything) // 2
    assert (frequency == frequency[size]).sum() > 50, "the cut must fall among many ties"
    assert frequency[size - 1] == frequency[size]
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 3), min_df=3, max_features=size)
    vectorizer.fit([texts[i] for i in rows])
    vocabulary = train.vocabulary(size, 3)
    assert vocabulary.names() == vectorizer.get_feature_names_out().tolist()
    assert_same_matrix(lr._tfidf(train.count(vocabulary), vectorizer.idf_), vectorizer.transform(texts)[rows])


@settings(max_examples=100)
@given(corpora, corpora, analyzers)
def test_a_row_is_the_same_whatever_stands_beside_it(texts, others, analyzer):
    alone = count_ngrams(texts, analyzer)
    among = count_ngrams([*others, *texts, *others], analyzer)[np.arange(len(others), len(others) + len(texts))]
    assert len(among) == len(texts)
    # Counted by a vocabulary of one of them, both give the same, though they number n-grams differently.
    assert_same_matrix(among.count(alone.terms), alone.counts)
    assert among.vocabulary(10**9, 1).names() == alone.terms.names()


@settings(max_examples=100)
@given(corpora, corpora, analyzers)
def test_terms_are_found_by_name_in_another_set_or_not_at_all(texts, others, analyzer):
    terms, other = count_ngrams(texts, analyzer).terms, count_ngrams(others, analyzer).terms
    names = other.names()
    expected = [names.index(name) if name in names else -1 for name in terms.names()]
    assert terms.positions_in(other).tolist() == expected
    assert Terms.from_names(terms.names(), analyzer).positions_in(other).tolist() == expected


@settings(max_examples=100)
@given(corpora, analyzers)
def test_names_make_the_same_terms_again(texts, analyzer):
    terms = count_ngrams(texts, analyzer).terms
    again = Terms.from_names(terms.names(), analyzer)
    assert again.names() == terms.names() == sorted(terms.names())
    assert again.tokens == terms.tokens
    np.testing.assert_array_equal(again.keys, terms.keys)


def test_no_texts_and_texts_without_tokens_count_to_nothing():
    vocabulary = count_ngrams(["some words"], "word").terms
    assert count_ngrams([], "word").count(vocabulary).shape == (0, 3)
    assert count_ngrams(["", "a . b"], "word").count(vocabulary).nnz == 0
    assert len(count_ngrams(["ab"], "word")[np.array([], dtype=np.int64)]) == 0


def test_a_string_in_place_of_a_list_is_an_error():
    with pytest.raises(UserError, match="wrap it in a list"):
        count_ngrams("some words", "word")


@pytest.mark.parametrize("value", [None, 3.5, float("nan"), b"bytes"])
def test_what_is_not_a_string_is_named_with_its_position(value):
    with pytest.raises(UserError, match=rf"text 1 is of type {type(value).__name__}"):
        count_ngrams(["fine", value], "word")


def test_more_distinct_words_than_can_be_numbered_exactly_is_an_error(monkeypatch):
    monkeypatch.setattr(ngrams, "_MAX_BASE", 4)
    assert len(count_ngrams(["aa bb"], "word").terms) == 3
    with pytest.raises(UserError, match="3 distinct words; at most 2 fit"):
        count_ngrams(["aa bb cc"], "word")


def test_the_largest_number_of_an_ngram_fits_in_64_bits():
    largest = ngrams._MAX_BASE - 2  # tokens
    assert (largest + 1) ** 3 - 1 <= np.iinfo(np.int64).max < (ngrams._MAX_BASE) ** 3
