"""Bytes to the text a reader may see: whole letters only, nothing of a stop string."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class TextStream:
    """Turns token bytes into text as they come.

    A letter is given out when its last byte is there, so every piece is valid UTF-8; bytes that never become a
    letter come out as U+FFFD. Text that may be the beginning of a stop string waits until it is decided; a stop
    string and all after it are never given out.
    """

    stop: Sequence[str] = ()
    strip_first_space: bool = False
    stopped: bool = False
    _held: str = ""
    _first: bool = True
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def feed(self, data: bytes) -> str:
        """Text that ``data`` makes certain."""
        return self._release(self._decoder.decode(data))

    def finish(self) -> str:
        """What is left at the end."""
        text = self._release(self._decoder.decode(b"", final=True))
        rest, self._held = self._held, ""
        return text if self.stopped else text + rest

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        if self._first and text:
            self._first = False
            text = text.removeprefix(" ") if self.strip_first_space else text
        text = self._held + text
        found = [at for s in self.stop if s and (at := text.find(s)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = max((self._overlap(text, s) for s in self.stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    @staticmethod
    def _overlap(text: str, stop: str) -> int:
        """Length of the longest end of ``text`` that begins ``stop``."""
        return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
