"""What is stored about a session besides the session itself, in the transaction that stores it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert

from arena.results.tallies.highlights import Found, Record, highlights
from arena.store.models import FaultTally, Highlight
from arena.store.storage import Transaction, add_to_rows

ADD_HIGHLIGHT = insert(Highlight)


class Pool(NamedTuple):
    """The pool that a match belongs to, rated or not."""

    ruleset_id: int
    table_size: int


class SessionTallies(NamedTuple):
    """The highlights of a session, and who committed which faults."""

    pool: Pool
    highlights: Sequence[Found]
    faults: Mapping[tuple[int, str], int]
    """By bot version and kind."""


def tallies_of(
    pool: Pool, ruleset: Mapping[str, object], deals: Sequence[Record], seats: Sequence[int]
) -> SessionTallies:
    """Return the tallies of a session, from its lean records and the bot versions by seat."""
    return SessionTallies(pool, highlights(deals, ruleset), faults_of(deals, seats))


def faults_of(deals: Iterable[Record], seats: Sequence[int]) -> Counter[tuple[int, str]]:
    """Count the faults in some deals, by bot version and kind; ``seats`` are the bot versions by seat."""
    return Counter(
        (seats[fault["seat"]], fault["kind"]) for deal in deals for fault in deal.get("faults", ())
    )


def keep(tx: Transaction, session_id: int, found: SessionTallies) -> None:
    """Store the tallies of a session that is being stored itself."""
    rows = highlight_rows(session_id, found)
    if rows:
        tx.connection().execute(ADD_HIGHLIGHT, rows)
    faults = [
        found.pool._asdict() | {"version_id": version_id, "kind": kind, "count": count}
        for (version_id, kind), count in sorted(found.faults.items())  # so that no two wait for each other
    ]
    if faults:
        add_to_rows(tx, FaultTally, faults)


def highlight_rows(session_id: int, found: SessionTallies) -> list[dict[str, Any]]:
    """Return the values of the rows of a session's highlights."""
    return [found.pool._asdict() | {"session_id": session_id} | one._asdict() for one in found.highlights]
