"""The board of a pool as one file that can be checked (docs/formats.md, "Boards"), made from the database."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.boards import (
    FORMAT,
    Board,
    BoardBot,
    BoardFit,
    BoardLuck,
    BoardRound,
    BoardScore,
    BoardSigned,
    BoardStrength,
    BoardSums,
    BoardTournament,
    RatedAt,
)
from arena.jsonvalues import to_json
from arena.results.ledgers import LUCK
from arena.results.strength.board import board_rows, board_strength
from arena.results.strength.counts import Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import counts_of
from arena.results.strength.pools import Pool, baselines_in, latest_fits, lines_in, unfitted
from arena.store.models import (
    BotVersion,
    LuckTally,
    Match,
    MatchState,
    Rating,
    RatingChange,
    Round,
    Session,
    StoredRuleset,
    Strength,
    Tournament,
)
from arena.store.storage import Storage, Transaction
from arena.trust.exports.boards import board_digest, joined_digest
from arena.trust.exports.reading import worth_of
from arena.trust.exports.write import reference_part
from referee.reference.values import REFERENCE
from referee.signing import SigningKey


def export_board(storage: Storage, pool: Pool, key: SigningKey) -> Board:
    """Return the board of a pool as it is now, signed with the arena's key.

    If rounds have ended since the latest fit, it is fitted anew, but nothing is stored.
    """
    with storage.read() as tx:
        ruleset = tx.get_one(StoredRuleset, pool.ruleset_id)
        kinds = counts_of(tx, pool)
        baselines = baselines_in(tx).get(pool, [])
        names = dict(
            tx.exec(
                select(BotVersion.id, BotVersion.name)
                .join(Rating, col(Rating.version_id) == BotVersion.id)
                .where(Rating.ruleset_id == pool.ruleset_id, Rating.table_size == pool.table_size)
            ).all()
        )
        fit, strengths = _strengths(tx, pool, kinds, baselines)
        rounds = list(_rounds(tx, pool))
        board = Board(
            format=FORMAT,
            ruleset=ruleset.label,
            ruleset_hash=ruleset.hash,
            table_size=pool.table_size,
            reference=REFERENCE.name,
            reference_hash=REFERENCE.hash,
            baselines=tuple(names[version_id] for version_id in baselines),
            tournaments=tuple(_tournaments(tx, pool, rounds)),
            rounds=tuple(rounds),
            sums=tuple(_sums(kind) for kind in kinds if kind.matches or kind.forfeited),
            fit=fit,
            bots=tuple(_bots(tx, pool, names, kinds, strengths)),
            signed=BoardSigned("", "", ""),
        )
    return replace(board, signed=BoardSigned(*key.sign(board_digest(to_json(board)))))


def _strengths(
    tx: Transaction, pool: Pool, kinds: Sequence[Counts], baselines: Sequence[int]
) -> tuple[BoardFit | None, Mapping[int, BoardStrength]]:
    """Return the stored fit of a pool, if it is of these sums, or a new one, and the strengths by version."""
    if pool in (waiting for waiting, _ in unfitted(tx)):
        fit = fit_counts(kinds, lines_in(tx, pool))
        if fit is None:
            return None, {}
        rows = list(board_rows(fit, kinds, set(baselines), {}))
        whole = BoardFit(fit.deviation, fit.made_deviation, fit.spread, fit.gain)
    else:
        stored = latest_fits(tx).get(pool)
        if stored is None:
            return None, {}
        whole = BoardFit(stored.deviation, stored.made_deviation, stored.spread, stored.gain)
        of_pool = (Strength.ruleset_id == pool.ruleset_id, Strength.table_size == pool.table_size)
        rows = [row.model_dump() for row in tx.exec(select(Strength).where(*of_pool))]
    return whole, {row["version_id"]: board_strength(row, whole.deviation) for row in rows}


def _rounds(tx: Transaction, pool: Pool) -> Iterator[BoardRound]:
    """Yield the rated rounds of a pool, in the order of rating."""
    rated = (
        select(Round, Tournament.name)
        .join(Tournament, col(Tournament.id) == Round.tournament_id)
        .where(*_of_pool(pool), col(Round.rated_after).is_not(None))
        .order_by(col(Round.rated_after))
    )
    for round, tournament in tx.exec(rated).all():
        sessions = select_columns(
            *(col(Match.table_number), col(Session.number), col(Session.id), col(Session.signed))
        )
        done = (
            sessions.join(Session, col(Session.match_id) == Match.id)
            .where(col(Match.round_id) == round.id, col(Match.state) == MatchState.DONE)
            .order_by(col(Match.table_number), col(Session.number))
        )
        rows = tx.connection().execute(done).all()
        yield BoardRound(
            tournament=tournament,
            round=round.number,
            rated_after=round.rated_after or 0,
            matches=len({table for table, *_ in rows}),
            results=joined_digest(signed["digest"] for *_, signed in rows if signed is not None),
            beta=round.beta,
            beta_after=round.weighed_after,
            references=None if round.beta is None else joined_digest(_references(tx, round, rows)),
        )


def _references(tx: Transaction, round: Round, sessions: Sequence[Any]) -> Iterator[str]:
    """Yield the digests of the parts that say what the cards of a round were worth."""
    worth = worth_of(tx, [session_id for _, _, session_id, _ in sessions])
    for table, of_table in groupby(sessions, key=itemgetter(0)):
        known = [
            {"session": number, "worth": worth[session_id]}
            for _, number, session_id, _ in of_table
            if worth.get(session_id)
        ]
        if known:
            yield str(reference_part(round, table, known)["digest"])


def _tournaments(tx: Transaction, pool: Pool, rounds: Sequence[BoardRound]) -> Iterator[BoardTournament]:
    """Yield the tournaments of some rounds, in order of these."""
    named = select(Tournament.name, Tournament.commitment).where(*_of_pool(pool))
    commitments = dict(tx.exec(named).all())
    for name in dict.fromkeys(round.tournament for round in rounds):
        yield BoardTournament(name, commitments[name] or "")


def _of_pool(pool: Pool) -> tuple[Any, ...]:
    return Tournament.ruleset_id == pool.ruleset_id, Tournament.table_size == pool.table_size


def _sums(kind: Counts) -> BoardSums:
    names = BoardSums.__dataclass_fields__.keys()
    return BoardSums(**{name: getattr(kind, name) for name in names})


def _bots(
    tx: Transaction,
    pool: Pool,
    names: Mapping[int, str],
    kinds: Sequence[Counts],
    strengths: Mapping[int, BoardStrength],
) -> Iterator[BoardBot]:
    """Yield the bot versions of a pool, in the order of their ids."""
    in_pool = (Rating.ruleset_id == pool.ruleset_id, Rating.table_size == pool.table_size)
    scores: dict[int, list[BoardScore]] = defaultdict(list)
    for kind in kinds:
        columns = (kind.scores[name].tolist() for name in ("bot", "deals", "score"))
        for version_id, deals, score in zip(*columns, strict=True):
            if deals:
                scores[version_id].append(BoardScore(kind.kind, deals, score))
    tallies = select(LuckTally).where(
        LuckTally.ruleset_id == pool.ruleset_id, LuckTally.table_size == pool.table_size
    )
    luck = {tally.version_id: tally for tally in tx.exec(tallies)}
    since = _since(tx, in_pool)
    for rating in tx.exec(select(Rating).where(*in_pool).order_by(col(Rating.version_id))):
        version_id, own = rating.version_id, luck.get(rating.version_id)
        if rating.id in since:
            yield BoardBot(
                bot=names[version_id],
                rating=rating.value,
                matches=rating.matches,
                deals=rating.deals,
                since=since[rating.id],
                scores=tuple(scores[version_id]),
                luck=None if own is None else BoardLuck(*LUCK.row(own)),  # type: ignore[arg-type]
                strength=strengths.get(version_id),
            )


def _since(tx: Transaction, in_pool: Sequence[Any]) -> dict[int, RatedAt]:
    """Return where each rating of a pool changed last."""
    last = (
        select(func.max(RatingChange.id))
        .join(Rating, col(Rating.id) == RatingChange.rating_id)
        .where(*in_pool)
        .group_by(col(RatingChange.rating_id))
    )
    changes = (
        select(RatingChange.rating_id, Tournament.name, Round.number, Match.table_number)
        .join(Match, col(Match.id) == RatingChange.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(col(RatingChange.id).in_(last))
    )
    return {rating_id: RatedAt(name, round, table) for rating_id, name, round, table in tx.exec(changes)}
