"""``decoder generate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from decoder.cli import options
from decoder.cli.figures import print_stats
from decoder.cli.opening import ABOUT_DRAFTS, LOADING, note_idle_profile, open_pair, processors
from decoder.cli.output import echo_json, echo_text, notify
from tokalign.errors import UsageError

if TYPE_CHECKING:
    from decoder.generation import GenerationResponse, Pair, Prompt


@click.command(
    short_help="Write what the target writes, sooner.",
    epilog="\b\nExamples:\n"
    '  decoder generate --demo "Warszawa jest"\n'
    '  decoder generate bielik-11b "Opowiedz o Wiśle." --draft bielik-1.5b\n'
    '  decoder generate bielik-11b "Dopisz rym." -d qwen2.5-1.5b --settings pary.json -k 2 --stats\n'
    '  decoder generate ./model-mlx --raw --lookup --temperature 0.7 --seed 3 "Za górami, za lasami"\n'
    "  decoder generate ./model-mlx - --json < pytanie.txt",
)
@click.argument("target", required=False)
@click.argument("prompt", required=False)
@options.demo
@options.drafting
@click.option("--lookup", is_flag=True, help="Draft from the text so far and nothing else.")
@click.option(
    "-n", "--max-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Tokens at most."
)
@options.sampling
@click.option("--stop", metavar="TEXT", multiple=True, help="End before this text. Repeat for several.")
@click.option(
    "--chat/--raw",
    default=None,
    help="Send PROMPT through the chat template, or as it is (default: the template, where there is one).",
)
@click.option("--system", metavar="TEXT", help="A system message before PROMPT; needs a chat template.")
@click.option("--stats", "with_stats", is_flag=True, help="Print a table of the run on standard error.")
@options.as_json
def generate(
    target: str | None,
    prompt: str | None,
    demo: bool,
    draft: str | None,
    lookup: bool,
    chat: bool | None,
    system: str | None,
    with_stats: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Write what the model TARGET writes after PROMPT, with a draft model to make it sooner.

    PROMPT is one argument, or - for standard input; with --demo it is the only one. Text appears as it comes.
    A draft changes how fast it comes, never what comes: under a seed, sampled text too.
    """
    target, prompt = _models_and_prompt(target, prompt, draft, demo)
    _check(draft is not None or (demo and not lookup), lookup, chat, system, asked)
    text = _standard_input() if prompt == "-" else prompt
    from decoder.generation import stream_generate

    penalty = asked.pop("repetition_penalty")
    loading = {name: asked.pop(name) for name in LOADING}
    pair = open_pair(target, draft, lookup=lookup, **loading)
    found = stream_generate(
        pair, _prompt(pair, text, chat, system), lookup=lookup, logits_processors=processors(penalty), **asked
    )
    ids: list[int] = []
    try:
        written, last = _follow(found, ids, live=not as_json)
    except KeyboardInterrupt:
        if as_json or not ids:
            raise
        echo_text("\n")
        raise KeyboardInterrupt(f"{len(ids)} tokens were written") from None
    if as_json:
        echo_json(_json(pair, written, ids, last, lookup=lookup))
    else:
        echo_text("\n")
    if with_stats and last.stats is not None:
        print_stats(last, last.stats)


def _models_and_prompt(
    target: str | None, prompt: str | None, draft: str | None, demo: bool
) -> tuple[str | None, str]:
    """The target, None for the demo's, and the prompt. Under --demo the only argument is the prompt."""
    if demo:
        if draft is not None or prompt is not None:
            raise UsageError("--demo brings its own models; give PROMPT alone, or leave out --demo.")
        if target is None:
            raise UsageError('give a PROMPT, such as: decoder generate --demo "Warszawa jest".')
        return None, target
    if target is None or prompt is None:
        raise UsageError("give a TARGET and a PROMPT, or --demo and a PROMPT alone.")
    return target, prompt


def _check(
    drafting: bool, lookup: bool, chat: bool | None, system: str | None, asked: Mapping[str, Any]
) -> None:
    if drafting and lookup:
        raise UsageError("--lookup drafts from the text itself; leave out either it or --draft.")
    if not drafting:
        about = [f"--{name.replace('_', '-')}" for name in ABOUT_DRAFTS if asked[name]]
        if about:
            raise UsageError(f"{about[0]} is about a draft model; give one with --draft.")
        if asked["k"] not in (None, 0, "auto") and not lookup:
            raise UsageError("-k is about drafts; give a draft model with --draft, or --lookup.")
    note_idle_profile(lookup, asked)
    if system is not None and chat is False:
        raise UsageError("--system needs the chat template; leave out --raw.")
    penalty = asked["repetition_penalty"]
    if penalty is not None and not penalty > 0:
        raise UsageError(f"--repetition-penalty is {penalty:g}; it must be above 0.")
    if asked["temperature"] == 0:
        idle = [name for name in ("top_p", "top_k", "min_p", "seed") if asked[name]]
        if idle:
            notify(f"--{idle[0].replace('_', '-')} has no effect at temperature 0, where nothing is sampled.")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is no UTF-8 text (byte {error.start}); convert it first.") from None


def _prompt(pair: Pair, text: str, chat: bool | None, system: str | None) -> Prompt:
    has = pair.target.has_chat_template
    if (chat or system is not None) and not has:
        option = "--chat" if chat else "--system"
        raise UsageError(f"{option}: the model {pair.target.name!r} has no chat template; leave it out.")
    if chat is False or not has:
        return text
    messages = [{"role": "system", "content": system}] if system is not None else []
    return [*messages, {"role": "user", "content": text}]


def _follow(
    found: Iterator[GenerationResponse], ids: list[int], *, live: bool
) -> tuple[str, GenerationResponse]:
    """Consume a stream, noting its ids and printing its text where ``live``; the text and the last response."""
    parts: list[str] = []
    for response in found:
        ids.append(response.token)
        parts.append(response.text)
        if live and response.text:
            echo_text(response.text)
    return "".join(parts), response


def _json(pair: Pair, text: str, ids: list[int], last: GenerationResponse, *, lookup: bool) -> dict[str, Any]:
    return {
        "text": text,
        "ids": ids,
        "finish_reason": last.finish_reason,
        "target": pair.target.name,
        "draft": pair.draft.name if pair.draft else None,
        "translation": str(pair.strategy) if pair.draft else None,
        "lookup": lookup,
        "k": pair.k,
        "prompt_tokens": last.prompt_tokens,
        "prompt_tps": last.prompt_tps,
        "generation_tps": last.generation_tps,
        "peak_memory": last.peak_memory,
        "stats": last.stats.as_dict() if last.stats else None,
    }
