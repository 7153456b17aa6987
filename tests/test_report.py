"""The report: self-contained, safe whatever the data spell, complete without scripts, frank on stand-ins."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
import results

from tokalign.report import bundle, report_html, write_report
from tokalign.result import CurveTexts, Result
from tokalign.tune import same_vocabulary_choice

VOID = {"meta", "link", "br", "img", "hr", "input"}
TITLES = (
    "Verdict", "Fidelity over the context length p", "Key metrics", "Diacritics", "Inflection",
    "Agreement by word length", "Chunk types", "Aligned sentences", "Text quality", "Glossary", "Provenance",
)  # fmt: skip


class Page(HTMLParser):
    """What a browser would make of a page: elements, texts by element, comments; nesting is checked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.comments: list[str] = []
        self.scripts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        tag = self._open[-1] if self._open else ""
        if tag == "script":
            self.scripts.append(data)
        else:
            self.texts.append((tag, data))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return " ".join(" ".join(text for _, text in self.texts).split()).replace("\u00a0", " ")


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Result:
    return results.small(tmp_path_factory.mktemp("report"), drafts=2)


@pytest.fixture(scope="module")
def single(result: Result) -> Result:
    return replace(result, pairs=result.pairs[:1], drafts=result.drafts[:1], settings=result.settings[:1])


@pytest.fixture(scope="module")
def html(single: Result) -> str:
    return report_html(single)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_sections_in_the_order_in_which_they_are_read(page: Page) -> None:
    headings = [text for tag, text in page.texts if tag in ("h2", "h3")]
    assert [h.strip() for h in headings if h.strip()] == list(TITLES)


def test_it_is_small_and_holds_the_chart_library_once(html: str) -> None:
    assert len(html.encode()) <= 1_500_000
    assert html.count(bundle()) == 1
    script = gzip.decompress(base64.b64decode(bundle())).decode()
    assert "window.vegaEmbed=" in script


def test_nine_pairs_still_fit(single: Result) -> None:
    assert len(report_html(replace(single, pairs=single.pairs * 9)).encode()) <= 1_500_000


def test_nothing_is_fetched(page: Page) -> None:
    for _, attributes in page.elements:
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_links_lead_somewhere_and_ids_are_unique(result: Result, html: str) -> None:
    for text in (html, report_html(result)):
        page = Page(text)
        ids = [a["id"] for _, a in page.elements if "id" in a]
        assert len(ids) == len(set(ids))
        targets = {str(a["href"])[1:] for a in page.all("a")}
        assert targets and targets <= set(ids)


def test_every_chart_has_its_data_a_caption_and_figures(page: Page) -> None:
    boxes = [a["data-spec"] for a in page.all("div") if "data-spec" in a]
    specs = {a["id"] for a in page.all("script") if a.get("type") == "application/json"}
    assert boxes and set(boxes) == specs
    assert len(page.all("figcaption")) == len(page.all("figure")) == len(boxes)
    assert len(page.all("details")) == len(boxes) - 1  # the enlarged chart points to the table beside it


def test_the_figures_stand_in_tables_without_scripts(page: Page, single: Result) -> None:
    assert page.all("noscript")
    fertility = single.pairs[0].metrics.filter(metric="fertility", side="target")["value"].item()
    assert f"{fertility:#.4g}" in page.words
    assert len(page.all("caption")) == len(page.all("table"))


def test_the_verdict_and_the_chosen_p_come_first(page: Page, single: Result) -> None:
    choice = single.pairs[0].choice
    assert choice is not None
    words = page.words
    assert words.index(f"p = {choice.p}, ") < words.index("Fidelity is the share")
    assert all(sentence in words for sentence in choice.verdict.split(". ")[:1])


def test_metrics_have_definitions_on_hover_and_in_the_glossary(page: Page) -> None:
    links = [a for a in page.all("a") if str(a["href"]).startswith("#def-")]
    assert links and all(a.get("title") for a in links)
    assert page.words.count("Characters of text for each token.") == 1  # once as text; titles are no text


def test_the_language_is_told(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert any(p.get("lang") == "pl" for p in page.all("p"))


def test_what_spells_markup_stays_text(single: Result) -> None:
    text = report_html(results.hostile(single))
    page = Page(text)
    assert page.comments == []
    assert len(page.all("script")) == len([a for a in page.all("div") if "data-spec" in a]) + 2
    assert text.count("<script>alert(1)") == 0
    assert "</script><script>alert(1)" in page.words
    specs = [s for s in page.scripts if s.startswith("{")]
    assert specs and all("<" not in s and json.loads(s) for s in specs)
    assert any(
        results.HOSTILE in json.dumps(json.loads(s), ensure_ascii=False).replace('\\"', '"') for s in specs
    )


def test_a_stand_in_is_named_wherever_its_figures_are(single: Result) -> None:
    notice = "stand-in for APT4, not APT4"
    draft = single.drafts[0]
    named = replace(draft, provisional=True, detail=notice, label=f"{draft.name} ({notice})")
    words = Page(report_html(replace(single, drafts=(named,)))).words
    assert words.index(notice) < words.index("Verdict")
    assert "Provisional." in words
    assert words.count(notice) >= 8


def test_without_a_stand_in_nothing_is_provisional(page: Page) -> None:
    assert "Provisional." not in page.words


def test_a_corpus_fallback_is_told_first(single: Result) -> None:
    corpora = tuple(replace(c, fallback=True, notice="a bundled sample stands in") for c in single.corpora)
    words = Page(report_html(replace(single, corpora=corpora))).words
    assert words.index("a bundled sample stands in") < words.index("Verdict")


def test_damage_to_a_corpus_is_told_first(single: Result) -> None:
    damaged = replace(single.corpora[0], damage=("a.zst is damaged or incomplete: only 3 documents are used",))
    page = Page(report_html(replace(single, corpora=(damaged,))))
    told = page.words.index(f"{damaged.name}: a.zst is damaged")
    assert told < page.words.index("Verdict")


def test_what_the_curve_rests_on_is_told(single: Result) -> None:
    assert "all documents" in Page(report_html(single)).words
    drawn = replace(single.corpora[0], curve=CurveTexts(405, 1_999_000))
    target = replace(single.target, encoder="fast, equal on 40 texts")
    text = Page(report_html(replace(single, target=target, corpora=(drawn,)))).words
    assert "405 documents, 1,999,000 bytes of UTF-8, drawn by" in text and "fast, equal on 40 texts" in text


def test_the_chart_library_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setenv("TOKALIGN_CACHE", str(tmp_path))
    monkeypatch.setattr("tokalign.report._made_bundle", lambda: made.append(1) or "abc")
    assert [bundle.__wrapped__() for _ in range(2)] == ["abc", "abc"] and len(made) == 1
    kept = next(tmp_path.iterdir())
    kept.write_text(kept.read_text()[:-1])
    assert bundle.__wrapped__() == "abc" and len(made) == 2


def test_several_pairs_begin_with_a_summary(result: Result) -> None:
    page = Page(report_html(result))
    assert len(result.pairs) == 2
    headings = [text.strip() for tag, text in page.texts if tag == "h2"]
    assert headings[0] == "Summary"
    links = [a["href"] for a in page.all("a")]
    assert links.count("#pair-1") >= 2 and links.count("#pair-2") >= 2


def test_missing_is_a_dash_and_never_zero(single: Result) -> None:
    pair = single.pairs[0]
    gone = pair.metrics.with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in ("value", "low", "high"))
    text = report_html(replace(single, pairs=(replace(pair, metrics=gone),)))
    section = text.partition('id="pair-1-metrics"')[2].partition("</section>")[0]
    cells = Page(f"<div>{section.partition('>')[2]}</div>")
    values = [t.strip() for tag, t in cells.texts if tag == "td" and t.strip()]
    assert "—" in values
    assert not [v for v in values if v.startswith("0")]


def test_too_little_text_gives_no_choice(single: Result) -> None:
    pair = single.pairs[0]
    frames = ("metrics", "chunks", "quality", "excluded", "samples", "curve")
    empty = replace(pair, choice=None, **{name: getattr(pair, name).clear() for name in frames})
    page = Page(report_html(replace(single, pairs=(empty,), settings=())))
    assert "too short" in page.words
    assert not [a for a in page.all("div") if "data-spec" in a]


def test_one_vocabulary_needs_no_translation(single: Result) -> None:
    pair = single.pairs[0]
    same = replace(pair, same_vocabulary=True, choice=same_vocabulary_choice((2, 4)), curve=pair.curve.clear())
    words = Page(report_html(replace(single, pairs=(same,)))).words
    assert "No translation" in words
    assert "Fidelity over the context length p" not in words


def test_one_document_has_no_intervals(single: Result) -> None:
    pair = single.pairs[0]
    bare = [pl.lit(None, dtype=pl.Float64).alias(c) for c in ("low", "high")]
    alone = replace(pair, metrics=pair.metrics.with_columns(bare), curve=pair.curve.with_columns(bare))
    assert "—" in Page(report_html(replace(single, pairs=(alone,)))).words


def test_provenance_names_everything_by_content(page: Page, single: Result) -> None:
    words = page.words
    for expected in (
        single.target.fingerprint, single.drafts[0].fingerprint, single.corpora[0].sha256, single.created,
        "tokalign compare cel szkic", single.machine.platform, single.versions["polars"],
    ):  # fmt: skip
        assert expected in words


def test_split_letters_are_shown_as_bytes(result: Result) -> None:
    text = report_html(replace(result, pairs=result.pairs[1:], drafts=result.drafts[1:]))
    assert "<b>C5·</b>" in text or "<b>C4·</b>" in text or "<b>C3·</b>" in text


def test_equal_results_give_equal_pages_and_nothing_is_left_beside(
    single: Result, html: str, tmp_path: Path
) -> None:
    write_report(single, tmp_path / "deep" / "report.html")
    assert (tmp_path / "deep" / "report.html").read_text(encoding="utf-8") == html
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["report.html"]
