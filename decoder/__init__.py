"""decoder: exact speculative decoding across vocabularies, on MLX.

In Python::

    from decoder import load_pair, stream_generate

    pair = load_pair("bielik-11b", "bielik-1.5b", settings="pair.json")
    for response in stream_generate(pair, "Warszawa jest", max_tokens=100):
        print(response.text, end="", flush=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decoder.generation import GenerationResponse, Pair, generate, load_pair, stream_generate

__all__ = ["GenerationResponse", "Pair", "generate", "load_pair", "stream_generate"]


def __getattr__(name: str) -> Any:
    """Import MLX with the first use, so that the command line can explain itself at once."""
    if name in __all__:
        from importlib import import_module

        module = import_module("decoder.generation")
        globals().update({public: getattr(module, public) for public in __all__})
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
