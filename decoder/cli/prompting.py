"""A conversation on a terminal or in a pipe: lines in, replies out."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from decoder.cli.conversation import Conversation
from decoder.cli.figures import print_stats
from decoder.cli.output import echo_text, err
from tokalign.errors import TokalignError, UsageError

HELP = """\
/help           this list
/stats          figures of the last reply and of the conversation
/system TEXT    set the system message; without TEXT, take it away
/reset          begin anew
/quit           leave (or Ctrl-D)
//…             a question that begins with a slash
Ctrl-C          end the reply; what was written stays in the conversation"""


def talk_over(conversation: Conversation, given: Iterator[str], *, live: bool) -> None:
    """Answer line by line. On a terminal (``live``) a failure is told and the conversation goes on.

    Raises:
        TokalignError: a reply failed, where nobody is there to be told.
    """
    if live:
        _say("/help lists the commands, Ctrl-C ends a reply, Ctrl-D leaves.")
    for line in given:
        if line.startswith("/") and not line.startswith("//"):
            if _command(conversation, line) is False:
                return
        elif line.strip():
            try:
                _reply(conversation, line.removeprefix("/") if line.startswith("//") else line, live)
            except TokalignError as error:
                if not live:
                    raise
                _say(str(error))


def lines(*, live: bool) -> Iterator[str]:
    """The user's lines, without their ends.

    Raises:
        UsageError: standard input is not UTF-8.
    """
    if not live:
        for n, raw in enumerate(sys.stdin.buffer, 1):
            try:
                yield raw.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                raise UsageError(f"line {n} of standard input is no UTF-8 text; convert it first.") from None
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # input() edits lines and remembers them with it
    while True:
        try:
            line = input("> ")
        except EOFError:
            echo_text("\n")
            return
        except KeyboardInterrupt:
            _say("\nCtrl-D or /quit leaves.")
            continue
        yield line.encode(errors="replace").decode()


def _reply(conversation: Conversation, question: str, live: bool) -> None:
    written, last = False, None
    with _stoppable(live) as stopped, contextlib.closing(conversation.ask(question)) as found:  # type: ignore[type-var]
        for last in found:
            written = written or bool(last.text)
            echo_text(last.text)
            if stopped():
                break
    echo_text("\n")
    if stopped() and not (last is not None and last.finish_reason):
        _say("stopped" if written else "stopped before any text came; the question is taken back")
    elif last is not None and last.finish_reason == "length" and live:
        _say("cut at --max-tokens")


@contextlib.contextmanager
def _stoppable(live: bool) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed inside; a second one interrupts whatever it falls into."""
    pressed = threading.Event()

    def press(sig: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if not live or threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    except KeyboardInterrupt:
        _say("\nstopped at once")
    finally:
        signal.signal(signal.SIGINT, before)


def _command(conversation: Conversation, line: str) -> bool:
    """Carry a command out; False to leave."""
    name, _, rest = line.partition(" ")
    if name == "/quit":
        return False
    if name == "/help":
        _say(HELP)
    elif name == "/reset":
        conversation.reset()
        _say("the conversation begins anew")
    elif name == "/system":
        conversation.system = rest.strip() or None
        _say("the system message is set" if conversation.system else "there is no system message now")
    elif name == "/stats":
        _stats(conversation)
    else:
        _say(f"there is no command {name}; /help lists them, and //… asks what begins with a slash")
    return True


def _stats(conversation: Conversation) -> None:
    last, whole = conversation.last, conversation.total
    if last is None or last.stats is None or whole is None:
        _say("no reply was finished yet")
        return
    print_stats(last, last.stats)
    accepted = "" if whole.acceptance is None else f", {whole.acceptance:.1%} of {whole.proposed:,} accepted"
    _say(
        f"last prompt: {last.prompt_tokens:,} tokens, {conversation.session.reused:,} of them kept\n"
        f"conversation: {whole.tokens:,} tokens in {len(conversation.stats)} replies, "
        f"{whole.tokens_per_pass:.2f} per target pass{accepted}"
    )


def _say(text: str) -> None:
    err().print(text, style="dim", soft_wrap=True)
