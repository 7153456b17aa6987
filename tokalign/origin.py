"""Where a result comes from: tokenizers and corpora by content, versions, machine and command line."""

from __future__ import annotations

import shlex

from tokalign.figures import Cell, Table, cells, count, words
from tokalign.result import CorpusInfo, Result, TokenizerInfo


def origin(result: Result) -> list[Table]:
    """The tables of the section on provenance."""
    return [_run(result), _tokenizers(result), *(_corpus(c) for c in result.corpora), _versions(result)]


def _run(result: Result) -> Table:
    machine = result.machine
    sample = "all documents" if result.sample is None else f"{count(result.sample)} documents of each corpus"
    rows = {
        "command": shlex.join(result.command),
        "created": result.created,
        "machine": f"{machine.cpu}, {machine.cores} cores, {machine.platform}",
        "sample": f"{sample}, seed {result.seed}",
    }
    return Table("The run", cells("", ""), [[Cell(name), words(text)] for name, text in rows.items()])


def _tokenizers(result: Result) -> Table:
    sides = [("target", result.target), *(("draft", d) for d in result.drafts)]
    head = [
        Cell("tokenizer"),
        *(Cell(t, words=True) for t in ("source", "encoder", "SHA-256 of the file", "fingerprint")),
        Cell("ids"),
    ]
    return Table(
        "Tokenizers; the fingerprint is the vocabulary’s identity", head, [_tokenizer(*s) for s in sides]
    )


def _tokenizer(side: str, t: TokenizerInfo) -> list[Cell]:
    badge = t.detail if t.provisional else None
    source = words(f"{t.kind}: {t.detail}")
    return [
        Cell(t.name, small=side, badge=badge),
        source,
        words(t.encoder),
        words(t.sha256),
        words(t.fingerprint),
        Cell(count(t.ids)),
    ]


def _corpus(corpus: CorpusInfo) -> Table:
    total = "" if corpus.total is None else f" of {count(corpus.total)}"
    skipped = "; ".join(f"{count(s.count)} × {s.kind} in {s.where}" for s in corpus.skipped)
    rows = {
        "specification": corpus.spec,
        "source": corpus.source,
        "licence": corpus.licence,
        "documents": f"{count(corpus.documents)}{total}, {count(corpus.bytes)} bytes of UTF-8",
        "SHA-256": corpus.sha256,
        "left out": skipped or "nothing",
        "curve over p": _curve_texts(corpus),
        "note": corpus.notice,
    }
    return Table(
        f"Corpus {corpus.name}", cells("", ""), [[Cell(name), words(text)] for name, text in rows.items()]
    )


def _curve_texts(corpus: CorpusInfo) -> str:
    if corpus.curve is None:
        return "all documents"
    return (
        f"{count(corpus.curve.documents)} documents, {count(corpus.curve.bytes)} bytes of UTF-8, drawn by the "
        "smallest SHA-256 of their text"
    )


def _versions(result: Result) -> Table:
    return Table(
        "Versions",
        [Cell("package"), Cell("version", words=True)],
        [[Cell(n), words(v)] for n, v in sorted(result.versions.items())],
    )
