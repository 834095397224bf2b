"""Writes the commit from which a distribution is built into it, if it is built in a checkout."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Commit(BuildHookInterface[Any]):
    """Adds ``arena/commit.txt``, which ``arena.store.watch`` reads, to an sdist or a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Ask git for the commit. An editable installation asks it itself."""
        if version == "editable" or not (Path(self.root) / ".git").exists():
            return
        command = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
        try:
            commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return
        self._folder = TemporaryDirectory(prefix="bigtwo-arena-")
        file = Path(self._folder.name) / "commit.txt"
        file.write_text(commit, "utf-8")
        build_data["force_include"][str(file)] = "arena/commit.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
