"""Writes the migration from the latest revision to the present models, to be reviewed and committed.

Without a text, it prints ``schema.txt``, from the migrations alone: write it after each change of one.
"""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from arena.store.schema import describe
from arena.store.storage import Storage, upgrade


def write_migration(connection: Connection, message: str) -> None:
    """Write ``versions/NNNN_message.py``."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
    config.attributes["connection"] = connection
    command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        Storage(f"sqlite:///{folder}/arena.db") as storage,
        storage.write() as tx,
    ):
        upgrade(tx.connection())
        if sys.argv[1:]:
            write_migration(tx.connection(), " ".join(sys.argv[1:]))
        else:
            lines = sorted(describe(tx.connection()))
            sys.stdout.write("".join(f"{line}\n" for line in lines))
