"""All files of vectors, and the texts of what is written."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.vectors import (
    capability,
    clock,
    compare,
    digest,
    follow,
    legal,
    pair,
    seat,
    session,
    settle,
    shuffle,
)
from tests.vectors.files import FORMAT, HEX, TEXT, WHOLE, array, compact, document, record
from tests.vectors.rulesets import ruleset_named, sources

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "referee/vectors"

FILES = (
    *(compare.FILE, legal.FILE, follow.FILE, session.FILE, settle.FILE, digest.FILE, shuffle.FILE),
    *(seat.FILE, pair.FILE, clock.FILE, capability.FILE),
)
"""In the order in which an engine or a verifier grows."""

RULESETS = (
    "The rulesets that the vectors name, resolved: all their fields, as docs/rulesets.md explains them."
)
INDEX = "The files of vectors, in the order in which an engine or a verifier grows."


def made() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file, schemas included."""
    listed = []
    for file in FILES:
        text = file.text()
        yield f"{file.name}.json", text
        yield f"{file.name}.schema.json", _pretty(file.schema())
        digest = sha256(text.encode()).hexdigest()
        listed.append(
            {"name": file.name, "vectors": text.count('{"id":'), "sha256": digest, "about": file.about}
        )
    yield "rulesets.json", _rulesets()
    rulesets = {"type": "object", "additionalProperties": {"type": "object"}}
    yield "rulesets.schema.json", _pretty(document("rulesets", RULESETS, rulesets=rulesets))
    yield "index.json", _pretty({"format": FORMAT, "name": "index", "about": INDEX, "files": listed})
    entry = record(name=TEXT, vectors=WHOLE, sha256=HEX, about=TEXT)
    yield "index.schema.json", _pretty(document("index", INDEX, files=array(entry)))


def _rulesets() -> str:
    """Return the text of the rulesets, one a line."""
    head = compact({"format": FORMAT, "name": "rulesets", "about": RULESETS})
    lines = ",\n".join(f"{compact(name)}:{compact(ruleset_named(name).to_object())}" for name in sources())
    return f'{head[:-1]},"rulesets":{{\n{lines}\n}}}}\n'


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
