"""The whole comparison on made tokenizers: what it computes, tells and keeps."""

from __future__ import annotations

import json
from pathlib import Path

import makers
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tokalign import compare as module
from tokalign.compare import compare, tuned
from tokalign.errors import UsageError
from tokalign.job import Job
from tokalign.settings import check
from tokalign.tokenizers import load


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> dict[str, str]:
    """Names to paths: cel, szkic, bajty (tokenizers), a, b, krotki (corpora)."""
    folder = tmp_path_factory.mktemp("compare")
    texts = makers.polish_texts(24)
    makers.saved(makers.trained(texts, 1200), folder / "cel.json")
    makers.saved(makers.trained(texts, 800, "byte-level"), folder / "szkic.json")
    makers.saved(makers.byte_level(), folder / "bajty.json")
    for name, part in (("a", texts[:12]), ("b", texts[12:]), ("krotki", ["a", "b"])):
        rows = [json.dumps({"text": text}, ensure_ascii=False) for text in part]
        (folder / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return {path.stem: str(path) for path in folder.iterdir()}


def job(places: dict[str, str], drafts=("szkic",), corpora=("a",), **options) -> Job:
    chosen = {"cuts": 30, "offline": True} | options
    return Job(
        target=places["cel"],
        drafts=tuple(places[d] for d in drafts),
        corpora=tuple(places[c] for c in corpora),
        **chosen,
    )


@pytest.fixture(scope="module")
def result(places):
    return compare(job(places, ("szkic", "bajty"), ("a", "b")))


def test_every_draft_is_measured_on_every_corpus(result, places):
    found = [(Path(p.draft).stem, p.corpus) for p in result.pairs]
    assert found == [("szkic", "a.jsonl"), ("bajty", "a.jsonl"), ("szkic", "b.jsonl"), ("bajty", "b.jsonl")]
    for pair in result.pairs:
        assert pair.metrics.height and pair.chunks.columns == ["n", "m", "count", "bytes"]
        assert pair.choice is not None and not pair.same_vocabulary
    parity = result.pair(places["bajty"], "a.jsonl").metrics.filter(
        (pl.col("metric") == "parity") & (pl.col("slice_kind") == "overall")
    )
    assert parity["value"].item() > 2  # bytes alone are many


def test_settings_rest_on_all_corpora_together(result, places):
    assert [s.draft.name for s in result.settings] == [places["szkic"], places["bajty"]]
    for settings in result.settings:
        assert [c.name for c in settings.corpora] == ["a.jsonl", "b.jsonl"]
        check(settings, load(places["cel"]), load(settings.draft.name))


def test_provenance_is_kept(result):
    assert {"python", "tokalign", "tokenizers", "polars", "morfeusz2"} <= set(result.versions)
    assert result.machine.cores >= 1 and result.machine.platform
    assert result.target.kind == "path" and len(result.target.sha256) == 64
    assert [c.documents for c in result.corpora] == [12, 12]
    assert not result.provisional


def test_a_run_can_be_made_again(places):
    one, two = compare(job(places)), compare(job(places))
    for left, right in zip(one.pairs, two.pairs, strict=True):
        assert_frame_equal(left.metrics, right.metrics)
        assert_frame_equal(left.curve.drop("host_us"), right.curve.drop("host_us"))
        assert left.choice == right.choice


def test_one_vocabulary_is_told_by_its_content(places, tmp_path):
    copy = tmp_path / "kopia.json"
    copy.write_bytes(Path(places["cel"]).read_bytes())
    found = compare(job({**places, "kopia": str(copy)}, ("kopia",)))
    pair = found.pairs[0]
    assert pair.same_vocabulary and pair.curve.is_empty()
    assert found.settings[0].same_vocabulary
    assert "same vocabulary" in found.settings[0].verdict


def test_short_texts_give_figures_and_no_choice(places):
    found = compare(job(places, corpora=("krotki",)))
    assert found.pairs[0].choice is None and found.settings == ()
    assert found.pairs[0].metrics.height


def test_a_stand_in_makes_settings_provisional(places, monkeypatch):
    notices: list[str] = []
    monkeypatch.setenv("HF_HUB_CACHE", "/nonexistent")
    found = tuned(job({**places, "bielik-1.5b": "bielik-1.5b"}, ("bielik-1.5b",)), notify=notices.append)
    if found.draft.kind != "stand-in":
        pytest.skip("the real vocabulary is in the cache here")
    assert found.settings.provisional
    assert "stand-in for APT4, not APT4" in found.settings.reason
    assert any("stand-in for APT4, not APT4" in n for n in notices)
    assert found.json()["settings"]["provisional"] is True


def test_tuned_is_the_choice_of_compare(result, places):
    found = tuned(job(places, ("szkic",), ("a", "b")))
    assert found.settings.chosen == result.settings[0].chosen
    assert found.settings.lengths == result.settings[0].lengths


def test_names_given_twice_are_refused(places):
    with pytest.raises(UsageError, match=r"draft .* is given twice"):
        compare(job(places, ("szkic", "szkic")))
    with pytest.raises(UsageError, match=r"corpus .* is given twice"):
        compare(job(places, corpora=("a", "a")))


def test_corpora_of_one_name_are_told_apart(places, tmp_path):
    other = tmp_path / "a.jsonl"
    other.write_bytes(Path(places["b"]).read_bytes())
    found = compare(job({**places, "inny": str(other)}, corpora=("a", "inny")))
    assert [c.name for c in found.corpora] == [places["a"], str(other)]
    assert found.pair(places["szkic"], str(other)).corpus == str(other)


def test_progress_grows_to_the_whole(places):
    seen: list[tuple[str, float]] = []
    compare(job(places, ("szkic", "bajty")), progress=lambda *step: seen.append(step))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert any("choosing p" in what for what, _ in seen)


def test_the_target_is_segmented_once_for_all_drafts(places, monkeypatch):
    given = []

    def spy(target, draft, texts, segmentations=None, **options):
        given.append(segmentations)
        return real(target, draft, texts, segmentations, **options)

    real = module.tune
    monkeypatch.setattr(module, "tune", spy)
    compare(job(places, ("szkic", "bajty")))
    assert given[0] is given[1] is not None
