"""Bytes of files, plain or compressed; a cut or damaged stream never passes for its end."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any

from corpora.meter import Meter
from tokalign.errors import CorpusError

CHUNK = 1 << 16


class BrokenStreamError(Exception):
    """A compressed stream that is damaged or ends too early; the reader adds how much was read."""


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of one or more frames; the library's own reader ends silently in a cut frame."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frame: Any = None
        self._input = b""
        self._output = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._output:
            if not self._input:
                self._input = self._raw.read(CHUNK)
            if not self._input:
                if self._frame is not None:
                    raise BrokenStreamError("it ends inside a zstandard frame")
                return 0
            self._output = memoryview(self._decompress())
        count = min(len(buffer), len(self._output))
        buffer[:count] = self._output[:count]
        self._output = self._output[count:]
        return count

    def _decompress(self) -> bytes:
        import zstandard

        if self._frame is None:
            self._frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        try:
            output = self._frame.decompress(self._input)
        except zstandard.ZstdError as error:
            raise BrokenStreamError("its zstandard data is damaged") from error
        self._input = b""
        if self._frame.eof:
            self._input, self._frame = self._frame.unused_data, None
        return output


class _GzipReader(io.RawIOBase):
    """Decompressed bytes of a gzip file, its errors as BrokenStreamError."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._file = gzip.GzipFile(fileobj=raw, mode="rb")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read1(len(buffer))
        except EOFError as error:
            raise BrokenStreamError("it ends inside the gzip data") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise BrokenStreamError("its gzip data is damaged") from error
        buffer[: len(data)] = data
        return len(data)


def unreadable(path: Path, error: OSError) -> CorpusError:
    """The sentence for a file or folder that the system refuses to open."""
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"{path} no longer exists: check the path")
    if isinstance(error, PermissionError):
        return CorpusError(f"{path} may not be read by this user: change its permissions, or copy it")
    return CorpusError(f"{path} cannot be read ({error.strerror or error}): check the file, or copy it")


def open_bytes(path: Path, meter: Meter | None = None) -> io.BufferedReader:
    """The file's bytes, decompressed by its suffix (.gz, .zst). CorpusError when it cannot be opened.

    ``meter`` follows the bytes that are read from disk.
    """
    try:
        raw = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from error
    if meter is not None:
        meter.follow(raw)
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return io.BufferedReader(_GzipReader(raw), CHUNK)
    if suffix == ".zst":
        return io.BufferedReader(_ZstdReader(raw), CHUNK)
    return raw
