"""Writes the migration from the latest revision to the present models, to be reviewed and committed."""

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from arena.store.storage import Storage, migrate


def write(message: str) -> None:
    """Write ``versions/NNNN_message.py``."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
    with tempfile.TemporaryDirectory() as folder, Storage(f"sqlite:///{folder}/arena.db") as storage:
        migrate(storage)
        with storage.write() as tx:
            config.attributes["connection"] = tx.connection()
            command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")


if __name__ == "__main__":
    write(" ".join(sys.argv[1:]))
