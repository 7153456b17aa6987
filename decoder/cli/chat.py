"""``decoder chat``."""

from __future__ import annotations

import sys
from typing import Any

import click

from decoder.cli import talk


@click.command(
    short_help="Talk with a model on the terminal.",
    epilog="\b\nExamples:\n"
    "  decoder chat bielik-11b bielik-1.5b\n"
    '  decoder chat bielik-11b qwen2.5-1.5b --settings para.json --system "Odpowiadaj krótko."\n'
    "  decoder chat ./model-mlx --lookup --temperature 0.7 < pytania.txt",
)
@click.argument("target", required=False)
@click.argument("draft", required=False)
@talk.drafting
@click.option("--lookup", is_flag=True, help="Draft from the text so far instead of a draft model.")
@click.option(
    "-n",
    "--max-tokens",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    help="Tokens of a reply at most.",
)
@talk.sampling
@click.option("--system", metavar="TEXT", help="A system message to begin with.")
def chat(
    target: str | None,
    draft: str | None,
    demo: bool,
    lookup: bool,
    max_tokens: int,
    system: str | None,
    seed: int,
    **asked: Any,
) -> None:
    """Talk with the model TARGET; DRAFT, a model of any vocabulary, makes its replies come sooner.

    What both models know of the conversation is kept, so that a new question costs only its own tokens.
    Ctrl-C ends a reply, Ctrl-D the conversation; /help lists what else there is. Without a terminal every
    line of standard input is a question, and standard output holds the replies alone.

    The seed of the first reply is --seed, that of the next one more, and so on.
    """
    talk.check(target, draft, demo, lookup, asked)
    loading = {name: asked.pop(name) for name in talk.LOADING}
    penalty = asked.pop("repetition_penalty")
    from decoder.cli.conversation import Conversation
    from decoder.cli.prompting import lines, talk_over
    from decoder.sampling import Sampling

    Sampling(**asked, seed=seed)  # what is out of range is said before a model is loaded
    pair = talk.open_pair(target, draft, lookup=lookup, **loading)
    options = {
        "lookup": lookup,
        "max_tokens": max_tokens,
        "logits_processors": talk.processors(penalty),
        **asked,
    }
    conversation = Conversation(pair, system, seed, options)
    talk_over(conversation, lines(live=sys.stdin.isatty()), live=sys.stdin.isatty())
