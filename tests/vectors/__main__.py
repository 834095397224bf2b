"""``python -m tests.vectors check`` names the files that differ and fails; ``regenerate`` writes them."""

import sys
from collections.abc import Sequence

from tests.vectors.made import FOLDER, made


def main(arguments: Sequence[str]) -> int:
    """Run the command; return the exit status."""
    if arguments not in (["check"], ["regenerate"]):
        print("usage: python -m tests.vectors check|regenerate", file=sys.stderr)
        return 2
    texts = dict(made())
    there = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.json")}
    differing = sorted(name for name in {**texts, **there} if texts.get(name) != there.get(name))
    print(*differing, sep="\n", end="\n" if differing else "")
    if arguments == ["check"]:
        return int(bool(differing))
    for name in differing:
        if name in texts:
            (FOLDER / name).write_text(texts[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
