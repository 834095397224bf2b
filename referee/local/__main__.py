"""A Python file as a bot of its own process: ``python -m referee.local FILE``, as the SDK runs one."""

import sys
from pathlib import Path

from referee.bot import main
from referee.errors import ProgramError
from referee.local.loading import load_file

if __name__ == "__main__":
    try:
        bot = load_file(Path(sys.argv[1]))
    except ProgramError as error:
        sys.exit(str(error))
    main(bot)
