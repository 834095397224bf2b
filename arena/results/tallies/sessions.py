"""What is stored about a session besides the session itself, in the transaction that stores it."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import insert

from arena.store.models import FaultTally, Highlight, HighlightKind
from arena.store.storage import Transaction, add_to_rows
from referee.memo import Memo
from referee.records.record import parse_action
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

Record = Mapping[str, Any]
"""A deal's lean record."""


class Found(NamedTuple):
    """The deal of a session that stands out most in one respect; the first of several equal ones."""

    kind: HighlightKind
    deal: int
    """Number of the deal in the session, from 1."""
    value: int


def highlights(deals: Sequence[Record], ruleset: Mapping[str, object]) -> list[Found]:
    """Return the deals that stand out in a session, one of each kind if there is one.

    - closest: the fewest points between the best seat and the second;
    - swing: the most points that a seat won or lost;
    - longest: the most actions, passes among them;
    - bombs: the most bombs played.

    The last three have no deal where that is 0.
    """
    played = [deal for deal in deals if is_played_out(deal)]
    if not played:
        return []
    most = [
        _most(HighlightKind.SWING, played, _swing),
        _most(HighlightKind.LONGEST, played, _length),
    ]
    if ruleset["bombs"]:
        most.append(_most(HighlightKind.BOMBS, played, _bombs(json.dumps(ruleset))))
    return [_least(HighlightKind.CLOSEST, played, _distance), *(one for one in most if one.value)]


def is_played_out(deal: Record) -> bool:
    """Return whether all bots played a deal to its end."""
    return "forfeit" not in deal and "played_for" not in deal


def _least(kind: HighlightKind, deals: Iterable[Record], value: Callable[[Record], int]) -> Found:
    least, number = min((value(deal), deal["deal"]) for deal in deals)
    return Found(kind, number, least)


def _most(kind: HighlightKind, deals: Iterable[Record], value: Callable[[Record], int]) -> Found:
    found = _least(kind, deals, lambda deal: -value(deal))
    return found._replace(value=-found.value)


def _distance(deal: Record) -> int:
    second, first = sorted(deal["points"])[-2:]
    return int(first - second)


def _swing(deal: Record) -> int:
    return int(max(map(abs, deal["points"])))


def _length(deal: Record) -> int:
    return len(deal.get("actions", ()))


@lru_cache(maxsize=32)
def _bombs(ruleset: str) -> Callable[[Record], int]:
    """Return a function that counts the bombs in a deal under a ruleset, given as JSON."""
    rules = compile_ruleset(load_ruleset(json.loads(ruleset)))

    def is_bomb(action: str) -> bool:
        cards = parse_action(rules, f"0:{action}").cards
        return bool(cards) and rules.is_bomb(rules.code(cards))

    known = Memo(is_bomb)
    return lambda deal: sum(known[action[2:]] for action in deal.get("actions", ()))


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
