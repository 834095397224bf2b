"""The generated parts of docs/protocol.md and docs/studies.md: transcripts, and the table of reasons."""

import re
from collections.abc import Iterator
from pathlib import Path

from referee.protocol.reasons import MEANINGS, Reason
from tests.wire import capture, record, text

ROOT = Path(__file__).parents[2]
PAGE = Path("docs/protocol.md")
STUDIES = Path("docs/studies.md")
PLAY_PROTO = Path("proto/referee/v1/bots.proto")


def page() -> str:
    """Return the page with its generated parts regenerated."""
    found = (ROOT / PAGE).read_text(encoding="utf-8")
    transcript = _fenced(text.transcript(capture.load("deal").streams[0]))
    return _replaced(_replaced(found, "transcript", transcript), "reasons", "\n".join(reasons_table()))


def studies() -> str:
    """Return the page of studies with its transcripts regenerated."""
    found = (ROOT / STUDIES).read_text(encoding="utf-8")
    for name, first in record.STUDIES.items():
        found = _replaced(found, name, _fenced(text.study(capture.load(name).streams, first)))
    return found


def _fenced(transcript: str) -> str:
    return f"```\n{transcript}\n```"


def _replaced(found: str, part: str, made: str) -> str:
    begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->"
    before, rest = found.split(begin)
    return before + begin + made + "\n" + end + rest.split(end)[1]


def reasons_table() -> Iterator[str]:
    """Yield the lines of the table of reasons."""
    yield "| reason | status | meaning | try again | bots |"
    yield "|---|---|---|---|---|"
    of_bots = reasons_of_play()
    for reason, meaning in MEANINGS.items():
        again = "final" if meaning.retry_seconds is None else f"after {meaning.retry_seconds:g} s"
        mark = "•" if reason in of_bots else ""
        yield f"| `{reason}` | `{meaning.status.name}` | {meaning.text} | {again} | {mark} |"


def reasons_of_play() -> set[Reason]:
    """Return the reasons for which a bot's stream may fail, according to its proto."""
    proto = (ROOT / PLAY_PROTO).read_text(encoding="utf-8")
    comment = re.search(r"Why it may fail:(.*?)rpc Play", proto, re.DOTALL)
    assert comment is not None, "the comment of Play names no reasons"
    return {Reason(name) for name in re.findall(r"[A-Z]+(?:_[A-Z]+)*(?=[,\s])", comment[1])}
