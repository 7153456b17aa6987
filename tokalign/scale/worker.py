"""A worker process: ``python -m tokalign.scale.worker FD`` answers shards with what is found in them.

Messages from the worker are ("ready",), ("done", pickled result) and ("failed", message, exit code).
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from multiprocessing.connection import Connection

from tokalign.errors import TokalignError
from tokalign.scale.recipe import give_back_memory


def main(handle: int) -> None:
    """Serve shards until the other side closes the connection."""
    with Connection(handle) as connection, contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            work = pickle.loads(connection.recv_bytes()).prepare()
            give_back_memory()
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


if __name__ == "__main__":
    main(int(sys.argv[1]))
