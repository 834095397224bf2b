"""``python -m tests.vectors.run`` holds the code to the vectors and prints the ids of those that it fails."""

import json
import sys
from collections.abc import Iterator

from tests.vectors.made import FILES, FOLDER


def failures(*names: str) -> Iterator[str]:
    """Yield the ids of the vectors in these files, or in all, that the code answers otherwise."""
    for file in FILES:
        if not names or file.name in names:
            for vector in json.loads((FOLDER / f"{file.name}.json").read_text(encoding="utf-8"))["vectors"]:
                try:
                    got = json.loads(json.dumps(file.answer(vector["input"])))
                except Exception as error:  # a fault in the code may show in any way
                    got = repr(error)
                if got != vector["expected"]:
                    yield str(vector["id"])


if __name__ == "__main__":
    failed = list(failures(*sys.argv[1:]))
    print(*failed, sep="\n", end="\n" if failed else "")
    sys.exit(bool(failed))
