"""The page about a bench: its answers, tables, charts and escapes, on made rows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from decoder.bench import results
from decoder.bench.alignment import read_alignment
from decoder.bench.examples import examples
from decoder.bench.grouping import Bench
from decoder.bench.identity import Identity, ModelIdentity
from decoder.bench.page import page_html, write_page
from decoder.bench.prediction import study_profile
from decoder.bench.published import CELLS
from decoder.bench.rows import LOSSES, REQUIRED, full_row
from decoder.bench.sections import sections
from decoder.bench.store import Store
from decoder.cli import cli
from decoder.errors import BenchError
from decoding.benches import made_bench, made_result, made_rows

EVIL = "</script><b onclick=alert(1)>&"
ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


class Collected(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


# The page


def whole_page(tmp_path: Path, bench: Bench, traces: Sequence[dict] = ()) -> str:
    path = tmp_path / "page.html"
    aligned = read_alignment(made_result(tmp_path / "r.json.gz"))
    write_page(path, bench, rounds=examples(traces), aligned=aligned, profile=study_profile())
    return path.read_text(encoding="utf-8")


def made_trace(**more) -> dict:
    base = {"draft": "polski", "translation": "naive", "k": 4, "prompt": "p0", "start": 0, "lost": ["context"]}
    return base | {"drafted_texts": ["\udcc5", " la"], "candidate_texts": ["la"], "token_texts": ["la", EVIL],
                   "accepted": 0} | more  # fmt: skip


PARTS = (
    "Answers",
    "What was measured",
    "Beside the published study",
    "Why tokens were lost",
    "Which repair brings what",
    "Loss and agreement of boundaries",
    "(predicted)",
    "Rounds that show it",
    "Energy is missing: no meter",
    "Prediction, not measurement",
    "2 pairs on 2 kinds of text",
)


def test_the_page_shows_everything(tmp_path):
    html = whole_page(tmp_path, made_bench(), [made_trace()])
    text = Collected(html).text
    for part in PARTS:
        assert part in text, part
    assert text.count("published") >= len(CELLS)
    assert "‹C5›" in text and "3.25 (3.2" in text
    assert len(html.encode()) < 1_500_000 and html.count("vegaEmbed=") <= 1


def test_the_page_is_the_same_for_the_same_bench(tmp_path):
    assert whole_page(tmp_path, made_bench()) == whole_page(tmp_path, made_bench())


def test_names_and_texts_are_escaped(tmp_path):
    evil = made_bench([r | {"draft": r["draft"] + EVIL, "group": EVIL} for r in made_rows()])
    plain = Collected(whole_page(tmp_path, made_bench(), [made_trace()]))
    html = whole_page(tmp_path, evil, [made_trace(draft=EVIL, drafted_texts=[EVIL])])
    found = Collected(html)
    assert "b onclick" not in html.replace("&lt;b onclick", "").replace("\\u003cb onclick", "")
    assert found.tags.count("b") == plain.tags.count("b") and EVIL in found.text


def test_little_data_makes_a_page_too(tmp_path):
    bare = [full_row({name: made_rows()[0][name] for name in REQUIRED})]
    bench = Bench(bare, Identity(ModelIdentity("cel", None), None, 1, None, None, None, None, 8))
    text = Collected(page_html(bench, sections(bench, (), (), None, None))).text
    assert "without a description" in text and "Why tokens were lost" not in text


PROBE = """<script>setTimeout(() => { document.body.dataset.probe = JSON.stringify({
  boxes: document.querySelectorAll(".plot").length,
  drawn: document.querySelectorAll(".plot svg.marks").length,
  width: document.documentElement.clientWidth,
  reach: document.documentElement.scrollWidth }); }, 3000);</script>"""


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Chromium")
def test_a_browser_draws_every_chart(tmp_path):
    bench = made_bench([*made_rows(), *(r | {"k": 2} for r in made_rows())])
    head, _, tail = whole_page(tmp_path, bench, [made_trace()]).rpartition("</body>")
    page = tmp_path / "probe.html"
    page.write_text(f"{head}{PROBE}</body>{tail}", encoding="utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--dump-dom")
    command = [CHROMIUM, *flags, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=plain)
    probe = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert probe, done.stderr[-500:]
    found = json.loads(probe[1].replace("&quot;", '"'))
    assert found["boxes"] == found["drawn"] == 4 and found["reach"] <= found["width"]


# The command and the README


@pytest.fixture
def stored(tmp_path) -> Path:
    bench = made_bench()
    store = Store.open(tmp_path / "bench", bench.identity)
    store.add("made", bench.rows, [made_trace()])
    return store.folder


def test_the_command_prints_answers_and_writes_the_page(stored):
    done = CliRunner().invoke(cli, ["report", str(stored)])
    assert done.exit_code == 0, done.output
    assert "The published order is an artefact of translation here." in done.stdout
    assert (stored / "report.html").exists() and "report.html" in done.stderr
    as_json = json.loads(CliRunner().invoke(cli, ["report", str(stored), "--json"]).stdout)
    assert len(as_json["summary"]) == 10 and len(as_json["by_group"]) == 20
    assert all(sum(c[f"lost_{kind}"] for kind in LOSSES) == pytest.approx(1) for c in as_json["summary"])


def test_the_command_refuses_what_it_does_not_have(stored, tmp_path):
    unknown = CliRunner().invoke(cli, ["report", str(stored), "--polish", "inny"])
    assert unknown.exit_code == 2 and "it has: polski, ogólny" in unknown.stderr
    empty = CliRunner().invoke(cli, ["report", str(tmp_path)])
    assert empty.exit_code == 2 and "holds no bench" in empty.stderr


def test_results_are_written_between_the_markers(stored, tmp_path):
    readme, summary = tmp_path / "README.md", tmp_path / "summary.json"
    readme.write_text(f"before\n{results.BEGIN}\nold\n{results.END}\nafter\n")
    assert results.main(["--bench", str(stored), "--summary", str(summary), "--readme", str(readme)]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{results.BEGIN}\nTokens per target pass at k = 4") and text.endswith(
        "after\n"
    )
    assert "| by token count, p = 5 | exact, with healing |" in text and "old" not in text
    assert re.search(r"\| polski \| 1\.15 \(.*\) \| 3\.25 \(3\.2\d–3\.\d\d\) \| 6 \|", text)
    assert "60 of 60 runs equal plain decoding token for token." in text
    assert "la" not in json.loads(summary.read_text())["summary"][0].values()
    assert results.main(["--summary", str(summary), "--readme", str(readme)]) == 0
    assert readme.read_text(encoding="utf-8") == text


def test_results_say_what_stands_beside_them(stored, tmp_path):
    readme, summary = tmp_path / "README.md", tmp_path / "summary.json"
    readme.write_text(f"{results.BEGIN}\n{results.END}\n")
    other = {"name": "another engine", "prompts": 9, "values": {"polski": 1.234}}
    about = {"drafts": {"polski": "a | b"}, "models": "Small ones.", "beside": "Others:", "elsewhere": [other]}
    (tmp_path / results.ABOUT).write_text(json.dumps(about))
    assert results.main(["--bench", str(stored), "--summary", str(summary), "--readme", str(readme)]) == 0
    text = readme.read_text(encoding="utf-8")
    assert "another engine, 9 other prompts" in text and "Small ones. Measured on" in text
    assert re.search(r"\| a \\\| b \| 1\.25 \| 1\.23 \| 2\.6\d? \(2\.\d\d–2\.\d\d\) \|", text), text
    assert re.search(r"\| ogólny \| 1\.65 \| — \| 1\.3\d \(", text)
    (tmp_path / results.ABOUT).write_text("{")
    assert results.main(["--summary", str(summary), "--readme", str(readme)]) == 1


def test_one_run_that_differs_is_named():
    rows = made_rows()
    rows[7] |= {"identical": False, "diverges_at": 3, "top2_gap": 0.00028}
    text = results.markdown(results.digest(made_bench(rows)))
    assert (
        "59 of 60 runs equal" in text
        and "the other one (polski, counted:5, prawo) differs from token 3" in text
    )
    assert "0.00028 apart" in text
    rows[8] |= {"identical": False, "diverges_at": 3, "top2_gap": 0.001}
    assert "at most 0.001 apart" in results.markdown(results.digest(made_bench(rows)))
    html = page_html(made_bench(rows), ())
    assert "2 of 60 runs did not give the output of plain decoding (polski counted:5 k=4, p1: token 3" in html


def test_a_readme_without_markers_is_refused(tmp_path):
    with pytest.raises(BenchError, match="lacks"):
        results.updated("nothing", "x")


def test_the_readme_has_not_drifted_from_the_kept_figures():
    readme, summary = ROOT / results.README, ROOT / results.SUMMARY
    if not readme.exists() or not summary.exists():
        pytest.skip("there is no README or no kept summary yet")
    text = readme.read_text(encoding="utf-8")
    section = results.markdown(results.read_digest(summary), results.read_about(summary))
    assert results.updated(text, section) == text, "run python -m decoder.bench.results"


def test_the_kept_figures_are_those_of_the_kept_rows():
    summary = ROOT / results.SUMMARY
    if not (summary.parent / "bench.json").exists():
        pytest.skip("there are no kept rows")
    store, kept = Store.read(summary.parent), results.read_digest(summary)
    assert results.digest(Bench(store.rows(), store.identity), kept["polish"]) == kept
