"""The two encoders of a vocabulary: whole documents, and continuations, which keep their bytes exactly."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from tokenizers import AddedToken
from tokenizers import Tokenizer as Encoder

from tokalign.errors import TokenizerUnusable
from tokalign.tokenizers.vocabulary import SPACE, is_control, steps


class Encoders:
    """The encoder of documents and that of continuations, which share one model in memory.

    ``text`` is a ``tokenizer.json`` and ``spec`` the same, parsed. Stored, they are the text alone, from which
    they are made again when they are first asked for.

    Raises:
        TokenizerUnusable: a control token would be met in text.
    """

    def __init__(self, text: str, name: str, spec: dict[str, Any]) -> None:
        self.text, self._name = text, name
        self.__dict__["_both"] = _encoders(spec, name)

    def __getstate__(self) -> dict[str, str]:
        return {"text": self.text, "_name": self._name}

    @cached_property
    def document(self) -> Encoder:
        """The encoder of whole documents."""
        return self._both[0]

    @cached_property
    def continuation(self) -> Encoder:
        """The encoder of continuations."""
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[Encoder, Encoder]:
        return _encoders(json.loads(self.text), self._name)


def of_documents(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification of the encoder of documents.

    Control tokens stay registered, so that every id keeps its place, but are never looked for in text; merges
    that would build one from its letters are left out.
    """
    control = {a["content"] for a in spec.get("added_tokens", []) if is_control(a)}
    model = dict(spec["model"])
    if "merges" in model:
        pairs = [m.split(" ", 1) if isinstance(m, str) else m for m in model["merges"]]
        model["merges"] = [p for p in pairs if "".join(p) not in control]
    return {
        **spec,
        "model": model,
        "added_tokens": [{**a, "special": is_control(a)} for a in spec.get("added_tokens", [])],
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }


def _encoders(spec: dict[str, Any], name: str) -> tuple[Encoder, Encoder]:
    control = {a["content"] for a in spec.get("added_tokens", []) if is_control(a)}
    document = Encoder.from_str(json.dumps(of_documents(spec)))
    document.encode_special_tokens = True
    reached = [
        c for c in control if set(document.encode(c, add_special_tokens=False).ids) & _ids(spec, control)
    ]
    if reached:
        raise TokenizerUnusable(
            f"the tokenizer {name!r} turns the text {reached[0]!r} into a control token; "
            "its vocabulary cannot tell text from control."
        )
    return document, _continuation(document, spec)


def _ids(spec: dict[str, Any], control: set[str]) -> set[int]:
    return {a["id"] for a in spec.get("added_tokens", []) if a["content"] in control}


def _continuation(document: Encoder, spec: dict[str, Any]) -> Encoder:
    """The same encoder without dummy prefix and without normalisation."""
    normalizers = steps(spec.get("normalizer"), "normalizers")
    cuts = steps(spec.get("pre_tokenizer"), "pretokenizers")
    kept = [n for n in normalizers if n["type"] == "Replace" and n.get("content") == SPACE]
    free = [_without_prefix(c) for c in cuts]
    if kept == normalizers and free == cuts:
        return document
    shell = Encoder.from_str(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": {"type": "Sequence", "normalizers": kept} if kept else None,
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": free} if free else None,
                "model": {"type": "BPE", "vocab": {}, "merges": []},
            }
        )
    )
    encoder = Encoder(document.model)
    if shell.normalizer is not None:
        encoder.normalizer = shell.normalizer
    if shell.pre_tokenizer is not None:
        encoder.pre_tokenizer = shell.pre_tokenizer
    for added in sorted(spec.get("added_tokens", []), key=lambda a: a["id"]):
        options = {k: added[k] for k in ("single_word", "lstrip", "rstrip", "normalized") if k in added}
        encoder.add_tokens([AddedToken(added["content"], special=is_control(added), **options)])
    encoder.encode_special_tokens = True
    return encoder


def _without_prefix(step: dict[str, Any]) -> dict[str, Any]:
    if step["type"] == "Metaspace":
        step = {k: v for k, v in step.items() if k != "add_prefix_space"} | {"prepend_scheme": "never"}
    elif step["type"] == "ByteLevel":
        step = step | {"add_prefix_space": False}
    return step
