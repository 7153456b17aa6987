"""``decoder serve``."""

from __future__ import annotations

import importlib.util
import ipaddress
from pathlib import Path
from typing import Any

import click

from decoder.cli import talk
from decoder.cli.output import err
from tokalign.errors import UsageError


@click.command(
    short_help="Serve a pair over HTTP in OpenAI's manner.",
    epilog="\b\nExamples:\n"
    "  decoder serve bielik-11b bielik-1.5b --settings para.json\n"
    "  decoder serve ./model-mlx --lookup --port 9000 --queue 32\n"
    "  DECODER_API_KEY=… decoder serve bielik-11b qwen2.5-1.5b --host 0.0.0.0",
)
@click.argument("target", required=False)
@click.argument("draft", required=False)
@talk.drafting
@click.option("--lookup", is_flag=True, help="Draft from the text so far instead of a draft model.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port (0: any free one)."
)
@click.option(
    "--api-key",
    metavar="KEY",
    envvar="DECODER_API_KEY",
    show_envvar=True,
    help="Ask every client for this bearer key. Others see a command line: prefer the variable.",
)
@click.option("--model-name", metavar="NAME", help="What clients call the model (default: TARGET's name).")
@click.option(
    "--queue",
    type=click.IntRange(min=0),
    default=16,
    show_default=True,
    metavar="N",
    help="Waiting requests at most.",
)
@click.option(
    "--max-body", type=click.IntRange(min=1), default=1 << 20, show_default=True, metavar="BYTES",
    help="Largest request.",
)  # fmt: skip
@click.option(
    "-n", "--max-tokens", type=click.IntRange(min=1), default=2048, show_default=True,
    help="Tokens of a reply at most, and where a request does not say.",
)  # fmt: skip
@talk.without("seed", "repetition_penalty")
@talk.sampling
def serve(target: str | None, draft: str | None, demo: bool, lookup: bool, **asked: Any) -> None:
    """Serve the model TARGET over HTTP, with DRAFT to make it faster: an API in OpenAI's manner.

    /v1/chat/completions, /v1/completions and /v1/models, streamed or not; /health and, for Prometheus,
    /metrics. One reply is written at a time, in the order of the requests. The options about sampling are
    for requests that do not say; one without a seed gets a new one.

    The first Ctrl-C lets the running reply finish, the second ends at once.
    """
    _check_installed()
    talk.check(target, draft, demo, lookup, asked)
    host, port, key = asked["host"], asked["port"], asked["api_key"]
    _check_reach(host, key)
    from decoder.sampling import Sampling
    from decoder.serve.app import make_app
    from decoder.serve.run import bind
    from decoder.serve.run import serve as run
    from decoder.serve.schema import Defaults
    from decoder.serve.worker import Worker
    from decoder.session import Session

    rule = {name: asked[name] for name in ("temperature", "top_p", "top_k", "min_p")}
    Sampling(**rule)
    loading = {name: asked[name] for name in talk.LOADING}
    with bind(host, port) as bound:
        worker = Worker(
            lambda: Session(talk.open_pair(target, draft, lookup=lookup, **loading)), asked["queue"]
        )
        worker.start()
        name = asked["model_name"] or _name(target)
        defaults = Defaults(asked["max_tokens"], lookup=lookup, **rule)
        app = make_app(
            worker, name, key=key, local=_is_local(host), defaults=defaults, max_body=asked["max_body"]
        )
        at = f"[{host}]" if ":" in host else host
        said = f"{name} is served at http://{at}:{bound.getsockname()[1]}/v1; Ctrl-C ends."
        run(app, worker, bound, lambda: err().print(said, soft_wrap=True))


def _check_installed() -> None:
    for name, package in (("starlette",) * 2, ("uvicorn",) * 2, ("prometheus_client", "prometheus-client")):
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"serving needs {package}; run: pip install 'tokalign-decoder[serve]'.")


def _check_reach(host: str, key: str | None) -> None:
    if key is not None and not (key.strip() and key.isascii() and key.isprintable()):
        raise UsageError("the API key is empty or has other than printable ASCII characters; give another.")
    if key is None and not _is_local(host):
        raise UsageError(
            f"--host {host} lets other machines in; set a key with DECODER_API_KEY or --api-key, or stay at "
            "127.0.0.1."
        )


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _name(target: str | None) -> str:
    """A folder is called by its own name, so that clients do not see where it lies."""
    if target is None:
        return "demo"
    return Path(target).resolve().name if Path(target).is_dir() else target
