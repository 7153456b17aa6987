"""``python -m tokalign``."""

from tokalign.cli import main

main()
