"""The report in a real browser, from a file: charts drawn, no errors, no requests, no sideways scrolling."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import results

from tokalign.report import report_html
from tokalign.result import Result

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom",
)  # fmt: skip
PROBE = """<script>
const note = () => {
  const boxes = document.querySelectorAll("[data-spec]").length;
  const drawn = document.querySelectorAll("[data-spec] svg.marks").length;
  const root = document.documentElement;
  document.body.dataset.probe = JSON.stringify({
    boxes, drawn, alerts: window.alerts || 0, width: root.clientWidth, reach: root.scrollWidth,
    requests: performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !/^data:/.test(n)),
    empty: [...document.querySelectorAll("svg.marks")].filter((s) => s.width.baseVal.value < 100).length
  });
};
window.alert = () => { window.alerts = (window.alerts || 0) + 1; };
setInterval(note, 100);
</script>"""

pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Chromium at /usr/bin/chromium")


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Result:
    return results.small(tmp_path_factory.mktemp("browser"))


def opened(text: str, folder: Path, *flags: str) -> tuple[str, list[str]]:
    """The page's DOM after its scripts ran, and what it wrote to the console."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def probed(text: str, folder: Path, *flags: str) -> dict:
    dom, console = opened(text.replace("</body>", PROBE + "</body>"), folder, *flags)
    assert console == []
    found = re.search(r"data-probe=\"([^\"]*)\"", dom)
    assert found is not None, "the probe did not run"
    return json.loads(found[1].replace("&quot;", '"'))


@pytest.mark.parametrize("width", [1280, 500])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_draws_every_chart_and_asks_for_nothing(
    result: Result, tmp_path: Path, width: int, scheme: str
) -> None:
    colours = f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"
    found = probed(report_html(result), tmp_path, f"--window-size={width},900", colours)
    assert found["boxes"] == found["drawn"] == 8
    assert found["empty"] == 0
    assert found["requests"] == []
    assert found["reach"] <= found["width"] == width


def test_data_that_spell_scripts_do_not_run(result: Result, tmp_path: Path) -> None:
    found = probed(report_html(results.hostile(result)), tmp_path, "--window-size=1280,900")
    assert found["alerts"] == 0
    assert found["boxes"] == found["drawn"] > 0
    assert found["requests"] == []
    assert found["reach"] <= found["width"]


def test_without_the_unpacker_the_tables_open(result: Result, tmp_path: Path) -> None:
    text = report_html(result).replace(
        "<style>", "<script>delete window.DecompressionStream</script><style>", 1
    )
    dom, _ = opened(text, tmp_path)
    assert 'svg class="marks"' not in dom
    assert dom.count("<details open") == 7
