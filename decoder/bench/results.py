"""The README's results, written from figures that are kept beside it.

    python -m decoder.bench.results                  # README.md from reports/example-bench/summary.json
    python -m decoder.bench.results --bench DIR      # the summary from a bench first

The summary holds figures and sentences about them, no text that was decoded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from decoder.bench import findings
from decoder.bench.comparison import quotient
from decoder.bench.grouping import Bench
from decoder.bench.readme import markdown
from decoder.bench.rows import KEYS
from decoder.bench.store import Store
from decoder.bench.summary import divergences
from decoder.errors import BenchError
from tokalign.errors import TokalignError
from tokalign.files import write_text

SCHEMA = "decoder-bench-summary/1"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
SUMMARY = Path("reports/example-bench/summary.json")
README = Path("README.md")
ABOUT = "about.json"
"""Beside the summary, optional: ``drafts`` (names by draft), ``models``, ``beside`` and ``more`` (sentences),
``elsewhere`` (what others' code reached: name, number of prompts, values by draft)."""
_GROUP = (
    "group",
    "prompts",
    "tokens_per_pass",
    "tokens_per_pass_low",
    "tokens_per_pass_high",
    "acceptance",
    "speedup",
)


def digest(bench: Bench, polish: str | None = None, target: str | None = None) -> dict[str, Any]:
    """The figures of a bench, rounded; ``polish`` is the draft with a Polish vocabulary, ``target`` a name for
    the target instead of its folder's."""
    i = bench.identity
    polish = polish or findings.longest_tokens(bench)
    return {
        "schema": SCHEMA,
        "target": target or Path(i.target.name).name,
        "prompts": i.count,
        "groups": list(dict.fromkeys(r["group"] for r in bench.rows)),
        "max_tokens": i.max_tokens,
        "float32": i.float32,
        "device": i.device,
        "mlx": i.mlx,
        "note": i.note,
        "k": bench.k,
        "different": [_rounded(d) for d in divergences(bench.rows) if d["translation"] != "transformers"],
        "polish": polish,
        "crossing": bench.crossing,
        "published": bench.published,
        "over_published": _over_published(bench),
        "summary": [_rounded(c) for c in bench.summary],
        "by_group": [_rounded({n: c[n] for n in (*KEYS, *_GROUP)}) for c in bench.by_group],
        "answers": [
            {"question": a.question, "sentences": list(a.sentences)} for a in findings.answers(bench, polish)
        ],
    }


def _over_published(bench: Bench) -> dict[str, Any]:
    """Exact translation with healing over the published one, by draft."""
    found = {}
    for draft in bench.drafts:
        names = [bench.named(draft, kind, bench.k) for kind in ("anchored", bench.published)]
        if None in names:
            continue
        exact, published = (bench.cell(draft, str(n), bench.k) for n in names)
        gain = quotient(exact, published, bench.seed)
        if gain is not None:
            found[draft] = _rounded({"value": gain.value, "value_low": gain.low, "value_high": gain.high})
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _rounded(v) for name, v in value.items()}
    return value


def read_digest(path: Path) -> dict[str, Any]:
    """The kept figures.

    Raises:
        BenchError: the file is missing or none.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise ValueError(f"its schema is {found['schema']!r}")
    except OSError as error:
        raise BenchError(f"the summary {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{path} is no summary of a bench ({error}); write one with --bench DIR.") from error
    return found


def read_about(summary: Path) -> dict[str, Any] | None:
    """What stands beside a summary to explain it, None where nothing does.

    Raises:
        BenchError: it is no JSON.
    """
    path = summary.with_name(ABOUT)
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(f"{path} cannot be read ({error}); mend it or remove it.") from error
    return found


def updated(readme: str, section: str) -> str:
    """The README with the section between its markers.

    Raises:
        BenchError: it has no markers.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BenchError(f"the README lacks {BEGIN} and {END}; put them where the results belong.")
    return f"{before}{BEGIN}\n{section}{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse and write."""
    parser = argparse.ArgumentParser(prog="python -m decoder.bench.results")
    parser.add_argument("--bench", type=Path, help="write the summary from this bench first")
    parser.add_argument("--polish", help="the draft with a Polish vocabulary")
    parser.add_argument("--target", help="what to call the target")
    parser.add_argument("--summary", type=Path, default=SUMMARY)
    parser.add_argument("--readme", type=Path, default=README)
    given = parser.parse_args(arguments)
    try:
        if given.bench:
            store = Store.read(given.bench)
            found = digest(Bench(store.rows(), store.identity), given.polish, given.target)
            write_text(given.summary, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        section = markdown(read_digest(given.summary), read_about(given.summary))
        write_text(given.readme, updated(given.readme.read_text(encoding="utf-8"), section))
    except TokalignError as error:
        print(f"results: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
