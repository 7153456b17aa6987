"""What results and settings keep of the tokenizers and corpora they rest on."""

from __future__ import annotations

from collections.abc import Sequence

import tokalign
from corpora import Corpus
from tokalign.result import CorpusInfo, CurveTexts, Skip, TokenizerInfo
from tokalign.scale import TextSample
from tokalign.settings import CorpusIdentity, Model, Settings
from tokalign.tokenizers import Tokenizer
from tokalign.tune import Choice


def described(tokenizer: Tokenizer, encoder: str | None = None) -> TokenizerInfo:
    """A tokenizer as the result keeps it; ``encoder`` says which encoder was used, and why."""
    source = tokenizer.source
    return TokenizerInfo(
        name=tokenizer.name,
        label=tokenizer.label,
        kind=source.kind,
        detail=source.detail,
        sha256=source.sha256,
        provisional=source.provisional,
        notice=source.notice,
        fingerprint=tokenizer.fingerprint,
        ids=tokenizer.vocabulary.n_ordinary,
        encoder=encoder,
    )


def corpus_info(corpus: Corpus, sample: TextSample) -> CorpusInfo:
    """A corpus as the result keeps it, with the texts that the curve over p was measured on."""
    return CorpusInfo(
        name=corpus.name,
        spec=corpus.spec,
        source=corpus.source,
        licence=corpus.licence,
        fallback=corpus.fallback,
        notice=corpus.notice,
        documents=corpus.n_documents,
        bytes=corpus.n_bytes,
        sha256=corpus.sha256,
        total=corpus.total,
        skipped=tuple(Skip(*s) for s in corpus.skipped),
        damage=corpus.damage,
        curve=None if sample.whole else CurveTexts(len(sample.texts), sample.n_bytes),
    )


def settings_for(
    target: Tokenizer, draft: Tokenizer, corpora: Sequence[Corpus], choice: Choice, created: str
) -> Settings:
    """The settings of a pair; provisional where either vocabulary is a stand-in."""
    stand_ins = [t.label for t in (target, draft) if t.source.provisional]
    return Settings(
        created=created,
        tokalign=tokalign.__version__,
        target=Model(target.name, target.fingerprint),
        draft=Model(draft.name, draft.fingerprint),
        same_vocabulary=target.fingerprint == draft.fingerprint,
        p=choice.p,
        anchored=choice.anchored,
        k=choice.k,
        lengths=choice.lengths,
        chosen=choice.chosen,
        runner_up=choice.runner_up,
        corpora=tuple(CorpusIdentity(c.name, c.sha256, c.n_documents, c.n_bytes, c.fallback) for c in corpora),
        provisional=bool(stand_ins),
        reason="; ".join(dict.fromkeys(stand_ins)) or None,
        verdict=choice.verdict,
    )
