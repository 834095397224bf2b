"""``python -m tests.golden check`` shows what differs and fails; ``regenerate`` shows it and writes it."""

import sys
from difflib import unified_diff

from tests.golden.made import COUNTS, RECORDS, ROOT, golden_files


def main(arguments: list[str]) -> int:
    """Run the command; return the exit status."""
    if arguments not in (["check"], ["regenerate"]):
        print("usage: python -m tests.golden check|regenerate", file=sys.stderr)
        return 2
    write = arguments == ["regenerate"]
    differs = False
    made = dict(golden_files())
    for path, text in made.items():
        file = ROOT / path
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        if old != text:
            differs = True
            sys.stdout.writelines(
                unified_diff(old.splitlines(True), text.splitlines(True), str(path), "made")
            )
            if write:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
    for file in [file for folder in (RECORDS, COUNTS) for file in (ROOT / folder).glob("*")]:
        if file.relative_to(ROOT) not in made:
            differs = True
            print(f"{file.relative_to(ROOT)}: belongs to no preset")
            if write:
                file.unlink()
    if differs and not write:
        print("golden files differ: run make golden if that is meant", file=sys.stderr)
    return int(differs and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
