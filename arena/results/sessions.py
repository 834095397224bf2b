"""What is stored about a session besides itself: highlights and faults, kept and counted again."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from sqlalchemy import delete, insert
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.luck import expected, made_above_mean
from arena.results.ledgers import FAULTS, HIGHLIGHTS, Key, Part, Row, WrongRow
from arena.results.strength.pools import Pool
from arena.store.models import (
    BotVersion,
    FaultTally,
    Highlight,
    HighlightKind,
    Match,
    MatchState,
    Round,
    Seat,
    Session,
    SessionRecords,
    SessionReference,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Transaction, changed
from referee.memo import Memo
from referee.records.record import parse_action
from referee.reference.values import REFERENCE
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

Record = Mapping[str, Any]
"""A deal's lean record."""
FaultKey = tuple[int, int, int, str]
"""Bot version, ruleset, table size and kind."""
AT_ONCE = 200
"""Sessions that are counted again at a time."""


class Highlighted(NamedTuple):
    """The deal of a session that stands out most in one respect; the first of several equal ones."""

    kind: HighlightKind
    deal: int
    """Number of the deal in the session, from 1."""
    value: int


def highlights(deals: Sequence[Record], ruleset: Mapping[str, object]) -> list[Highlighted]:
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
    return [_least(HighlightKind.CLOSEST, played, _distance), *(best for best in most if best.value)]


def is_played_out(deal: Record) -> bool:
    """Return whether all bots played a deal to its end."""
    return "forfeit" not in deal and "played_for" not in deal


def _least(kind: HighlightKind, deals: Iterable[Record], value: Callable[[Record], int]) -> Highlighted:
    least, number = min((value(deal), deal["deal"]) for deal in deals)
    return Highlighted(kind, number, least)


def _most(kind: HighlightKind, deals: Iterable[Record], value: Callable[[Record], int]) -> Highlighted:
    highlight = _least(kind, deals, lambda deal: -value(deal))
    return highlight._replace(value=-highlight.value)


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

    memo = Memo(is_bomb)
    return lambda deal: sum(memo[action[2:]] for action in deal.get("actions", ()))


Counted = Iterable[tuple[int, Sequence[int], Sequence[int]]]
"""Deals that all bots played to the end: the number, the points and what the cards were worth."""


def made_rows(
    session_id: int, pool: Pool, deals: Counted, beta: int
) -> dict[tuple[int, str], tuple[int, int, int, int]]:
    """Return the deals of a session that stand out by what was made of the cards, as rows of their ledger.

    - best-made: the most that a seat made of its cards, beyond what was expected;
    - worst-made: the most that a seat lost of what was expected.

    Both are beside the mean of the table, in 64ths of a point; there is no deal where that is 0.
    """
    seats = [
        (number, made_above_mean(points, expected(worth, REFERENCE.parts, beta)))
        for number, points, worth in deals
    ]
    if not seats:
        return {}
    best = min((-max(of_deal), number) for number, of_deal in seats)
    worst = min((min(of_deal), number) for number, of_deal in seats)
    extremes = ((HighlightKind.BEST_MADE, *best), (HighlightKind.WORST_MADE, *worst))
    return {(session_id, kind): (*pool, deal, -value) for kind, value, deal in extremes if value < 0}


class SessionTallies(NamedTuple):
    """The highlights of a session, and who committed which faults."""

    pool: Pool
    highlights: Sequence[Highlighted]
    faults: Mapping[tuple[int, str], int]
    """By bot version and kind."""

    def highlight_rows(self, session_id: int) -> dict[tuple[int, str], tuple[int, int, int, int]]:
        """Return the highlights as rows of their ledger, by key."""
        return {(session_id, best.kind): (*self.pool, best.deal, best.value) for best in self.highlights}

    def fault_counts(self) -> dict[FaultKey, int]:
        """Return the faults as rows of their ledger, in the same order everywhere."""
        faults = sorted(self.faults.items())  # so that no two transactions wait for each other
        return {(version_id, *self.pool, kind): count for (version_id, kind), count in faults}


def tallies_of(
    pool: Pool, ruleset: Mapping[str, object], deals: Sequence[Record], seats: Sequence[int]
) -> SessionTallies:
    """Return the tallies of a session, from its lean records and the bot versions by seat."""
    faults = Counter(
        (seats[fault["seat"]], fault["kind"]) for deal in deals for fault in deal.get("faults", ())
    )
    return SessionTallies(pool, highlights(deals, ruleset), faults)


ADD_HIGHLIGHT = insert(Highlight)


def keep(tx: Transaction, session_id: int, tallies: SessionTallies) -> None:
    """Store the tallies of a session that is being stored itself."""
    rows = HIGHLIGHTS.rows(tallies.highlight_rows(session_id))
    if rows:
        tx.connection().execute(ADD_HIGHLIGHT, rows)
    FAULTS.add(tx, tallies.fault_counts())


# Counted again


class Recounted(NamedTuple):
    """Some sessions, counted again."""

    highlights: Part[Row]
    """Their highlights, beside those stored."""
    faults: Counter[FaultKey]
    sessions: int
    """How many they are."""


def recounted(tx: Transaction) -> Iterator[Recounted]:
    """Yield all sessions in order of their ids, in batches."""
    contents = {row.id: row.content for row in tx.exec(select(StoredRuleset))}
    last = 0
    while sessions := _sessions(tx, last):
        bots = _bots(tx, {session.match_id for session in sessions})
        right: dict[Key, Row] = {}
        faults: Counter[FaultKey] = Counter()
        for session in sessions:
            deals = [json.loads(line) for line in zlib.decompress(session.records).splitlines()]
            seats = [bots[session.match_id][position] for position in session.seating]
            pool = Pool(session.ruleset_id, session.table_size)
            tallies = tallies_of(pool, contents[session.ruleset_id], deals, seats)
            right |= tallies.highlight_rows(session.id)
            if session.worth is not None and session.beta is not None and session.state == MatchState.DONE:
                clean = zip(deals, session.worth, strict=False)
                counted = [
                    (deal["deal"], deal["points"], worth) for deal, worth in clean if is_played_out(deal)
                ]
                right |= made_rows(session.id, pool, counted, session.beta)
            faults.update(tallies.fault_counts())
        names = {
            id.id: f"{id.name}/{id.round}/{id.table_number}/{id.number}: its highlights are wrong"
            for id in sessions
        }
        which = col(Highlight.session_id).in_(names)
        yield Recounted(
            Part(HIGHLIGHTS, right, partial(_about_highlights, names), which=which), faults, len(sessions)
        )
        last = sessions[-1].id


def _about_highlights(problems: Mapping[int, str], _: Transaction, row: WrongRow) -> str:
    session_id, _kind = row.key
    return problems[session_id]


def _sessions(tx: Transaction, after: int) -> Sequence[Any]:
    """Return the next sessions after an id, with their records."""
    rows: Any = (
        select_columns(
            col(Session.id),
            col(Session.match_id),
            col(Session.seating),
            col(Session.number),
            col(Match.table_number),
            col(Round.number).label("round"),
            col(Tournament.name),
            col(Tournament.ruleset_id),
            col(Tournament.table_size),
            col(SessionRecords.records),
            col(SessionReference.worth),
            col(Round.beta),
            col(Match.state),
        )
        .join(SessionRecords, col(SessionRecords.session_id) == Session.id)
        .outerjoin(SessionReference, col(SessionReference.session_id) == Session.id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
    )
    return tx.execute(rows.where(col(Session.id) > after).order_by(col(Session.id)).limit(AT_ONCE)).all()


def _bots(tx: Transaction, match_ids: set[int]) -> dict[int, list[int]]:
    """Return the bot versions of matches by position."""
    seats = select(Seat.match_id, Seat.version_id).where(col(Seat.match_id).in_(match_ids))
    bots: dict[int, list[int]] = {}
    for match_id, version_id in tx.exec(seats.order_by(col(Seat.match_id), col(Seat.position))):
        bots.setdefault(match_id, []).append(version_id)
    return bots


def wrong_faults(tx: Transaction, counted: Mapping[FaultKey, int]) -> list[WrongRow]:
    """Return the stored counts of faults that are wrong, in order.

    ``counted`` covers all sessions that this transaction sees.
    """
    wrong = (row for row in Part(FAULTS, counted, _about_faults).wrong(tx) if _more(row))
    return sorted(wrong, key=lambda row: row.key)


def correct_faults(tx: Transaction, wrong: Sequence[WrongRow]) -> None:
    """Add the faults that are missing, and take away the others; sessions may add more in the meantime."""
    FAULTS.add(tx, {row.key: _more(row) for row in wrong})
    changed(tx, delete(FaultTally).where(col(FaultTally.count) == 0))


def _about_faults(tx: Transaction, row: WrongRow) -> str:
    more, (version_id, _, _, kind) = _more(row), row.key
    name = tx.get_one(BotVersion, version_id).name
    return f"{name}: counts {abs(more)} {'fewer' if more > 0 else 'more'} {kind} faults than its records have"


def _more(row: WrongRow) -> int:
    [stored], [right] = row.stored or (0,), row.right or (0,)
    return int(right - stored)
