"""What a file of vectors is, and how it is written."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

FORMAT = "bigtwo-vectors/1"
"""The format that every file names; its number changes when a reader of the old files would go wrong."""

Answer = Callable[[Mapping[str, Any]], Any]
"""Makes what is expected from a vector's input."""

Case = tuple[str, Mapping[str, Any]]
"""What a vector is about, and its input."""


@dataclass(frozen=True, slots=True)
class VectorFile:
    """One file: how its vectors are chosen, and how they are answered."""

    name: str
    about: str
    """What is asked and what is expected, in a sentence or two."""
    answer: Answer
    cases: Callable[[], Iterable[Case]]
    input: Mapping[str, Any]
    """The JSON Schema of an input."""
    expected: Mapping[str, Any]
    """The JSON Schema of what is expected."""

    def vectors(self) -> Iterator[dict[str, Any]]:
        """Yield the vectors, each input once."""
        seen = set()
        for about, given in self.cases():
            number = sha256(canonical(given).encode()).hexdigest()[:10]
            if number not in seen:
                seen.add(number)
                expected = self.answer(given)
                yield {"id": f"{self.name}-{number}", "about": about, "input": given, "expected": expected}

    def text(self) -> str:
        """Return the file's text: one vector a line."""
        lines = ",\n".join(map(compact, self.vectors()))
        head = compact({"format": FORMAT, "name": self.name, "about": self.about})
        return f'{head[:-1]},"vectors":[\n{lines}\n]}}\n'

    def schema(self) -> dict[str, Any]:
        """Return the file's JSON Schema."""
        vector = record(
            id={"type": "string", "pattern": f"^{self.name}-[0-9a-f]{{10}}$"},
            about=TEXT,
            input=self.input,
            expected=self.expected,
        )
        return document(self.name, self.about, vectors={"type": "array", "items": vector})


def canonical(value: object) -> str:
    """Return JSON with sorted keys and no blanks, of which a vector's id is made."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def compact(value: object) -> str:
    """Return JSON without blanks, with keys in the order that they have."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# Schemas

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
WHOLE = {"type": "integer"}
SEAT = {"type": "integer", "minimum": 0, "maximum": 7}
HEX = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
CARDS = {"type": "string", "pattern": "^(|[0-9TJQKABR]+[DCHSJ]( [0-9TJQKABR]+[DCHSJ])*)$"}
RULESET = {"type": "string", "description": "A name in rulesets.json."}


def record(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these fields, and no others."""
    properties = {name.rstrip("_"): schema for name, schema in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def array(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


def maybe(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a value or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def document(name: str, about: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a whole file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:bigtwo-arena:schema:vectors-{name}",
        "description": about,
        **record(format={"const": FORMAT}, name={"const": name}, about=TEXT, **fields),
    }
