"""The test vectors: questions and answers to which rules, bots and verifiers in other languages are held."""

from pathlib import Path


def vector_files() -> dict[str, bytes]:
    """Return the files of the vectors by their names: questions, schemas, rulesets and an index."""
    folder = Path(__file__).parent
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}
