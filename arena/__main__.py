"""``python -m arena``: the command line."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, which may hold files of the names of our libraries

from referee.cli import main

main()
