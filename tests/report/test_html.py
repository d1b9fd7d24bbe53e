"""The page: valid, accessible, self-contained, and safe whatever the names in the records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from temporal_rumors.report import summarise, words
from temporal_rumors.report.html import page

Record = dict[str, Any]
VOID = {"meta", "wbr", "br", "link", "img"}


class Outline(HTMLParser):
    """Tags in order, checked for balance; attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def html(grid: list[Record]) -> str:
    return page(summarise(grid))


@pytest.fixture(scope="module")
def outline(html: str) -> Outline:
    return Outline(html)


def test_ids_are_unique_and_every_reference_within_the_page_resolves(html: str, outline: Outline) -> None:
    ids = Counter(attributes["id"] for _, attributes in outline.tags if "id" in attributes)
    assert [name for name, n in ids.items() if n > 1] == []
    references = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)|aria-labelledby="([^"]+)"', html)
    assert references
    assert {next(filter(None, found)) for found in references} <= set(ids)


def test_nothing_is_loaded_from_elsewhere(html: str, outline: Outline) -> None:
    tags = {tag for tag, _ in outline.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for _, attributes in outline.tags:
        for name in ("src", "href", "xlink:href", "action"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


def test_tables_and_figures_can_be_read_without_seeing_them(outline: Outline) -> None:
    assert all(attributes.get("scope") for attributes in outline.all("th"))
    assert len(outline.all("caption")) == len(outline.all("table")) > 0
    drawings = [a for tag, a in outline.tags if tag == "div" and a.get("role") == "img"]
    assert len(drawings) == len(outline.all("svg")) == 4
    assert all(a.get("aria-label") for a in drawings)
    assert outline.all("html")[0]["lang"]
    headings = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))


def test_every_score_paper_value_and_warning_is_on_the_page(grid: list[Record], outline: Outline) -> None:
    summary = summarise(grid)
    assert all(line in outline.text for line in words.headline(summary))
    assert all(sentence in outline.text for sentence in words.sentences(summary))
    for result in summary.results:
        assert words.score(result.mean, result.std) in outline.text
        if result.paper_mean is not None:
            assert f"paper {words.score(result.paper_mean, result.paper_std)}" in outline.text
        assert result.signature.replace(f"|metric:{result.metric}", "") in outline.text
    titles = {attributes.get("title") for attributes in outline.all("code")}
    for split in summary.splits:
        assert all(warning in outline.text for warning in split.warnings)
        assert split.split_digest in titles


def test_a_sentence_of_the_headline_is_not_told_twice(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.8 + 0.01 * k) for k in range(5)] + [make_record()]
    summary = summarise(records)
    assert Outline(page(summary)).text.count(words.headline(summary)[0]) == 1


def test_where_nothing_can_be_compared_the_page_gives_no_difference(make_record: Callable[..., Record]) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=0.8 + 0.01 * k) for k in range(5)]
    text = Outline(page(summarise([*records, make_record(f1=0.4, absent=("rumour",))]))).text
    assert "not comparable" in text
    assert not re.search(r"[+−-]42\.0", text)


def test_protocols_have_one_name_which_is_explained_in_the_papers_words(outline: Outline) -> None:
    for name in ("Strategy", "Standard chronological", "Leave-one-out", "Stratified chronological"):
        assert name not in outline.text
    reading = " ".join(outline.text[outline.text.rindex("How to read this") :].split())
    assert "chrono: the paper’s standard chronological split" in reading
    assert "chrono_stratified: the paper’s stratified chronological split" in reading
    assert "loo: leave one event out" in reading
    assert words.CAVEAT in reading
    assert words.CAVEAT in outline.text[: outline.text.index("How to read this", outline.text.index("Data and splits"))]


def test_hostile_names_stay_text(make_record: Callable[..., Record]) -> None:
    name = "<script>alert('x')</script>\"&{{ 7 * 7 }}"
    records = [
        make_record(benchmark=name, protocol=p, model=name, settings={name: name}, classes=(name, "b"))
        for p in ("random_fold0", "chrono")
    ]
    outline = Outline(page(summarise(records)))
    assert outline.all("script") == []
    assert name in outline.text


def test_split_tables_of_two_source_files_tell_them_apart(make_record: Callable[..., Record]) -> None:
    records = [make_record(data=data) for data in ("published", "mine")]
    text = Outline(page(summarise(records))).text
    assert text.count("chrono on ") == 2
    assert "(not the published data)" in text


def test_runs_without_random_folds_say_what_is_missing(make_record: Callable[..., Record]) -> None:
    text = Outline(page(summarise([make_record()]))).text
    assert "None: that takes runs of one model under random folds" in text
