"""``python -m decoder``."""

from decoder.cli import main

main()
