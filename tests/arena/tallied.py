"""Tallies as they are stored, and as a simple second implementation counts them from the deal records."""

from collections import Counter, defaultdict
from typing import Any

from sqlmodel import col, select

from arena.core.ranking import ScoreKind
from arena.results.ratings.apply import kind_of
from arena.store.models import (
    FaultTally,
    Highlight,
    LeftMeeting,
    Match,
    Meeting,
    Rating,
    Round,
    RoundState,
    Seat,
    SeatTally,
    Session,
    StoredRuleset,
    StrengthSums,
    Tournament,
)
from arena.store.records import lean_records
from arena.store.storage import Storage, Transaction
from referee.records.record import parse_action
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

Tallies = dict[str, dict[tuple[Any, ...], Any]]
"""The rows of each table, by key."""


def kept(storage: Storage) -> Tallies:
    """Return the stored tallies."""
    with storage.read() as tx:
        pools = {row.id: (row.ruleset_id, row.table_size, row.kind) for row in tx.exec(select(StrengthSums))}
        return {
            "meetings": {
                (*pools[row.sums_id], row.version_id, row.other_id): (
                    row.deals,
                    row.matches,
                    row.ahead,
                    row.behind,
                    row.lead,
                    row.last_match_id,
                )
                for row in tx.exec(select(Meeting))
            },
            "left": {
                (*pools[row.sums_id], row.version_id, row.other_id): (
                    row.deals,
                    row.matches,
                    row.ahead,
                    row.behind,
                    row.lead,
                )
                for row in tx.exec(select(LeftMeeting))
            },
            "seats": {
                (row.version_id, row.ruleset_id, row.table_size, row.seat): (
                    row.deals,
                    row.points,
                    row.squares,
                    round(row.first, 6),
                    row.faults,
                    row.forfeits,
                )
                for row in tx.exec(select(SeatTally))
            },
            "faults": {
                (row.version_id, row.ruleset_id, row.table_size, row.kind.value): row.count
                for row in tx.exec(select(FaultTally))
            },
            "highlights": {
                (row.session_id, row.kind.value): (row.ruleset_id, row.table_size, row.deal, row.value)
                for row in tx.exec(select(Highlight))
            },
            "last_played": {
                (row.ruleset_id, row.table_size, row.version_id): row.last_played
                for row in tx.exec(select(Rating))
            },
        }


def counted(storage: Storage) -> Tallies:
    """Count the tallies from the deal records of all sessions."""
    names = ("meetings", "left", "seats", "faults", "highlights", "last_played")
    found: Tallies = {name: {} for name in names}
    with storage.read() as tx:
        rows = select(Session, Match, Round, Tournament).join(Match, col(Match.id) == Session.match_id)
        rows = rows.join(Round).join(Tournament, col(Tournament.id) == Match.tournament_id)
        found_rows = tx.exec(rows.order_by(col(Session.id))).all()
        cards = Counter(
            (round_.id, session.number, deal["deal"], deal.get("attempt", 1))
            for session, _, round_, _ in found_rows
            for deal in lean_records(tx, session)
            if is_whole(deal)
        )
        tables = Counter((match.round_id, session.number) for session, match, _, _ in found_rows)
        for session, match, round_, tournament in found_rows:
            pool = (tournament.ruleset_id, tournament.table_size)
            seats = select(Seat.version_id).where(Seat.match_id == match.id).order_by(col(Seat.position))
            table = tx.exec(seats).all()
            bots = [table[position] for position in session.seating]
            deals = lean_records(tx, session)
            whole = [deal for deal in deals if is_whole(deal)]
            counted = [
                deal
                for deal in whole
                if not tournament.duplicate
                or tables[round_.id, session.number] == 1
                or cards[round_.id, session.number, deal["deal"], deal.get("attempt", 1)] > 1
            ]
            found["faults"] = Counter(found["faults"]) + Counter(
                (bots[fault["seat"]], *pool, fault["kind"])
                for deal in deals
                for fault in deal.get("faults", ())
            )
            add_highlights(found, session, pool, whole, bombs_of(tx, tournament, whole))
            if tournament.rated and round_.state == RoundState.CLOSED:
                leaver = who_left(deals)
                left = [] if leaver is None else [deal for deal in deals if not is_whole(deal)]
                add_seats(found, session, pool, bots, counted, leaver, left)
                add_meetings(found, match, (*pool, kind_of(tournament)), bots, counted)
                add_left(found, (*pool, kind_of(tournament)), bots, leaver, left)
                ended: Any = match.finished_at
                for bot in bots:
                    before = found["last_played"].get((*pool, bot), ended)
                    found["last_played"][*pool, bot] = max(before, ended)
    return found


def is_whole(deal: dict[str, Any]) -> bool:
    """Return whether all bots played the deal to its end."""
    return not {"forfeit", "played_for"} & set(deal)


def who_left(deals: list[dict[str, Any]]) -> int | None:
    """Return the seat whose bot was the first to forfeit after a card."""
    for deal in deals:
        for seat, why, number in [
            *((one["seat"], one["why"], one["deal"]) for one in deal.get("played_for", ())),
            *(
                (deal["forfeit"], "absent" if "absent" in deal else "", deal["deal"])
                for _ in "1"
                if "forfeit" in deal
            ),
        ]:
            return None if (why, number) == ("absent", 1) else int(seat)
    return None


def bombs_of(tx: Transaction, tournament: Tournament, deals: list[dict[str, Any]]) -> list[int]:
    """Return the number of bombs in each deal."""
    rules = compile_ruleset(load_ruleset(tx.get_one(StoredRuleset, tournament.ruleset_id).content))
    plays = [[parse_action(rules, action).cards for action in deal.get("actions", ())] for deal in deals]
    return [sum(rules.is_bomb(rules.code(cards)) for cards in deal if cards) for deal in plays]


def add_highlights(
    found: Tallies, session: Session, pool: tuple[int, int], deals: list[dict[str, Any]], bombs: list[int]
) -> None:
    values = defaultdict(list)
    for deal, count in zip(deals, bombs, strict=True):
        best, second = sorted(deal["points"], reverse=True)[:2]
        values["closest"].append((second - best, -deal["deal"]))
        values["swing"].append((max(abs(points) for points in deal["points"]), -deal["deal"]))
        values["longest"].append((len(deal.get("actions", ())), -deal["deal"]))
        values["bombs"].append((count, -deal["deal"]))
    for kind, of_deals in values.items():
        value, number = max(of_deals)
        if value or kind == "closest":
            found["highlights"][session.id, kind] = (*pool, -number, abs(value))


def add_seats(
    found: Tallies,
    session: Session,
    pool: tuple[int, int],
    bots: list[int],
    whole: list[dict[str, Any]],
    leaver: int | None,
    left: list[dict[str, Any]],
) -> None:
    for seat, bot in enumerate(bots):
        deals = [*whole, *left] if seat == leaver else whole
        own = [deal["points"][seat] for deal in deals]
        firsts = [deal["points"] for deal in deals if deal["points"][seat] == max(deal["points"])]
        new = (
            len(own),
            sum(own),
            sum(points**2 for points in own),
            sum(1 / points.count(max(points)) for points in firsts),
            session.faults[seat],
            session.forfeits.count(seat),
        )
        before = found["seats"].get((bot, *pool, seat), (0,) * 6)
        total = [round(one + more, 6) for one, more in zip(before, new, strict=True)]
        found["seats"][bot, *pool, seat] = tuple(total)


def add_meetings(
    found: Tallies,
    match: Match,
    pool: tuple[int, int, ScoreKind],
    bots: list[int],
    deals: list[dict[str, Any]],
) -> None:
    for seat, one in enumerate(bots):
        for place, other in enumerate(bots):
            if one < other and deals:
                key = (*pool, one, other)
                met, matches, ahead, behind, lead, last = found["meetings"].get(key, (0,) * 6)
                for deal in deals:
                    mine, theirs = deal["points"][seat], deal["points"][place]
                    ahead, behind, lead = (
                        ahead + (mine > theirs),
                        behind + (mine < theirs),
                        lead + mine - theirs,
                    )
                matches += match.id != last
                found["meetings"][key] = (met + len(deals), matches, ahead, behind, lead, match.id)


def add_left(
    found: Tallies,
    pool: tuple[int, int, ScoreKind],
    bots: list[int],
    leaver: int | None,
    left: list[dict[str, Any]],
) -> None:
    for place, other in enumerate(bots):
        if left and leaver is not None and place != leaver:
            leads = [deal["points"][leaver] - deal["points"][place] for deal in left]
            new = (
                len(leads),
                0,
                sum(lead > 0 for lead in leads),
                sum(lead < 0 for lead in leads),
                sum(leads),
            )
            before = found["left"].get((*pool, bots[leaver], other), (0,) * 5)
            found["left"][*pool, bots[leaver], other] = tuple(map(sum, zip(before, new, strict=True)))
