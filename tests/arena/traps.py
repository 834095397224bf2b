"""A folder of somebody else, in which files have the names of modules that our processes import."""

import sys
from pathlib import Path

LIBRARIES = (
    "arena",
    "referee",
    "uvloop",
    "grpc",
    "celery",
    "kombu",
    "celeryconfig",
    "typer",
    "rich",
    "numpy",
)
"""Names of ours and of libraries, besides those of Python itself."""


class Traps:
    """The folder, which is made; each file notes that it was executed, and fails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._note = folder / "sprung"
        folder.mkdir(parents=True)
        for name in (*LIBRARIES, *(one for one in sys.stdlib_module_names if not one.startswith("_"))):
            note = f"open({str(self._note)!r}, 'a').write('{name} ')\nraise ImportError('a trap')\n"
            (folder / f"{name}.py").write_text(note)

    def sprung(self) -> str:
        """Return the names of the files that were executed."""
        return self._note.read_text() if self._note.exists() else ""
