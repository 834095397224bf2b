"""``python -m arena``: the command line."""

from referee.cli import main

main()
