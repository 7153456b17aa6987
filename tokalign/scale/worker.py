"""A worker process: ``python -m tokalign.scale.worker FD`` answers shards with what is found in them.

Messages from the worker are ("ready",), ("done", pickled result) and ("failed", message, exit code).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import pickle
import signal
import sys
from multiprocessing.connection import Connection

from tokalign.errors import TokalignError


def main(handle: int) -> None:
    """Serve shards until the other side closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that dealt the shards
    with Connection(handle) as connection, contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            work = connection.recv().prepare()
            _give_back_memory()
            connection.send(("ready",))
            while True:
                shard = connection.recv()
                connection.send(("done", pickle.dumps(work(shard), pickle.HIGHEST_PROTOCOL)))
        except TokalignError as error:
            connection.send(("failed", str(error), error.exit_code))
        except (OSError, EOFError):
            raise
        except Exception as error:
            connection.send(("failed", f"a worker failed ({type(error).__name__}: {error})", 1))


def _give_back_memory() -> None:
    """Loading a vocabulary leaves more memory behind than it needs."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only the GNU C library has it
        ctypes.CDLL(None).malloc_trim(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
