"""tokalign: how two tokenizers segment the same Polish text, and what that costs a speculative decoder."""

__version__ = "0.1.0"
