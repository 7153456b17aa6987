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
from decoder.bench.grouping import Bench, family
from decoder.bench.rows import KEYS
from decoder.bench.store import Store
from decoder.bench.summary import divergences
from decoder.bench.table import NONE, interval, percent
from decoder.errors import BenchError
from tokalign.errors import TokalignError
from tokalign.files import write_text

SCHEMA = "decoder-bench-summary/1"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
SUMMARY = Path("reports/example-bench/summary.json")
README = Path("README.md")
LOST = {
    "translation": "lost in translation",
    "cut": "cut by the draft's end",
    "context": "draft behind another text",
    "disagreement": "models disagree",
    "unknown": "run ended",
}
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
        "summary": [_rounded(c) for c in bench.summary],
        "by_group": [_rounded({n: c[n] for n in (*KEYS, *_GROUP)}) for c in bench.by_group],
        "answers": [
            {"question": a.question, "sentences": list(a.sentences)} for a in findings.answers(bench, polish)
        ],
    }


def markdown(figures: Mapping[str, Any]) -> str:
    """The section between the markers."""
    cells = {(c["draft"], c["translation"]): c for c in figures["summary"] if c["k"] == figures["k"]}
    drafts = list(dict.fromkeys(d for d, _ in cells))
    names = list(dict.fromkeys(t for _, t in cells if t))
    lines = [_basis(figures), ""]
    head = [d if d in figures["crossing"] else f"{d} (same vocabulary)" for d in drafts if d != "lookup"]
    drafts = [d for d in drafts if d != "lookup"]
    lines += _table(
        ["translation", *head],
        [[name, *(_passes(cells.get((d, name))) for d in drafts)] for name in names],
    )
    for answer in figures["answers"]:
        lines += ["", f"**{answer['question']}** {answer['sentences'][0]}", ""]
        lines += [f"- {sentence}" for sentence in answer["sentences"][1:]]
    lost = [c for c in cells.values() if c["lost_tokens"] and family(c["translation"]) in _EXPLAINED]
    if lost:
        lines += ["", "Where the lost tokens went:", ""]
        lines += _table(
            ["draft, translation", *LOST.values()],
            [
                [f"{c['draft']}, {c['translation']}", *(percent(c[f"lost_{kind}"]) for kind in LOST)]
                for c in lost
            ],
        )
    return "\n".join(lines).rstrip() + "\n"


_EXPLAINED = ("counted", "anchored no-heal", "anchored")


def _basis(figures: Mapping[str, Any]) -> str:
    ours = [c for c in figures["summary"] if c["translation"] != "transformers"]
    same, runs = sum(c["identical"] for c in ours), sum(c["prompts"] for c in ours)
    said = [
        f"{figures['prompts']} prompts ({', '.join(figures['groups'])})",
        f"{figures['max_tokens']} tokens each" if figures["max_tokens"] else None,
        "float32" if figures["float32"] else None,
        figures["note"],
    ]
    return (
        f"Tokens per target pass at k = {figures['k']} with 95 % intervals, {figures['target']} as the target: "
        f"{', '.join(s for s in said if s)}. Plain decoding is 1. {same:,} of {runs:,} runs gave the output of "
        f"plain decoding.{_apart(figures['different'])}"
    )


def _apart(different: Sequence[Mapping[str, Any]]) -> str:
    """How close the two best logits were where outputs differed."""
    gaps = [d["top2_gap"] for d in different if d["top2_gap"] is not None]
    return f" Where one differed, the two best logits were at most {max(gaps):.2g} apart." if gaps else ""


def _passes(cell: Mapping[str, Any] | None) -> str:
    return NONE if cell is None else interval(cell, "tokens_per_pass", "{:.2f}")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|---|{'---:|' * (len(head) - 1)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
    ]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
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
        section = markdown(read_digest(given.summary))
        write_text(given.readme, updated(given.readme.read_text(encoding="utf-8"), section))
    except TokalignError as error:
        print(f"results: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
