"""Digests of what a bot saw itself: a deal as all seats are shown it, a session's deals, and its result.

A referee signs the digest of each result, and anyone who has seen or read the deals can recompute it
(docs/formats.md, "Signed results").
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from referee.deals.deal import Deal
from referee.records.record import DIRECTIONS, MEASURED, DealText

FORMAT = "bigtwo-result/1"
"""The format that a signed result names."""

NO_DEALS = ""
"""The digest of no deals."""

SHOWN = ("deal", "dealer", "direction", "hands", "actions", "out", "left", "points", "end")
"""The fields of a record that all seats are shown; of drawn cards, only their number."""

_DRAWN = re.compile(r':- \+([^"]+)')


@dataclass(frozen=True, slots=True)
class Result:
    """What a referee signs of a session."""

    commitment: str
    session: str
    """Public name, ``match/number``."""
    attempt: int
    """The attempt that played it to its end, from 1."""
    seats: Sequence[str]
    """Names of the bot versions, seat 0 first."""
    points: Sequence[int]
    """By seat."""
    faults: Sequence[int]
    """By seat."""
    forfeits: Sequence[int]
    """The seats whose bots forfeited it, by number."""
    deals: str
    """Digest of all its deals."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the result as canonical JSON, in hexadecimal, which is signed."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return sha256(canonical({"format": FORMAT, **fields})).hexdigest()


def canonical(content: object) -> bytes:
    """Return a JSON value in the one form that is hashed: sorted keys, no blanks, ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def add_deal(digest: str, deal: str) -> str:
    """Return the digest of a session's deals plus one more, given as it was shown."""
    return sha256((digest + deal).encode()).hexdigest()


def shown_digest(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the digest of a session's deals by their records, lean or complete."""
    digest = NO_DEALS
    for record in records:
        digest = add_deal(digest, record_as_shown(record))
    return digest


def measured_digest(measured: str) -> str:
    """Return the SHA-256 of what ``measured_json`` writes, which all seats are told at the end of a deal."""
    return sha256(measured.encode()).hexdigest()


def deal_as_shown(deal: Deal, text: DealText, measured: str) -> str:
    """Return a deal that is over as all seats are shown it, as canonical JSON.

    ``measured`` is the digest of what the referee measured.
    """
    public = text._replace(actions=_without_drawn(text.actions))
    return shown_json(public, deal.number, deal.dealer, deal.step, deal.end, measured)


def record_as_shown(record: Mapping[str, Any]) -> str:
    """Return the same from a deal's record."""
    public = {name: record[name] for name in SHOWN}
    measured = sha256(canonical({name: record[name] for name in MEASURED if name in record})).hexdigest()
    public |= {"actions": [_without_drawn(text) for text in record["actions"]], "measured": measured}
    return canonical(public).decode()


def shown_json(text: DealText, deal: int, dealer: int, step: int, end: str, measured: str) -> str:
    """Return the same from what each seat knows: of drawn cards, ``text`` has only their number.

    ``step`` is 1 clockwise, -1 anticlockwise.
    """
    return (
        f'{{"actions":{text.actions},"deal":{deal},"dealer":{dealer},'
        f'"direction":"{DIRECTIONS[step]}","end":"{end}","hands":{text.hands},"left":{text.left},'
        f'"measured":"{measured}","out":{text.out},"points":{text.points}}}'
    )


def _without_drawn(text: str) -> str:
    """Return actions that show only how many cards were drawn at a pass, not which."""
    if "+" not in text:
        return text
    return _DRAWN.sub(lambda drawn: f":- +{len(drawn[1].split())}", text)
