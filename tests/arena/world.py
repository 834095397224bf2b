"""An arena without processes: messages in a list, a controlled clock, and a function as referee."""

import json
import zlib
from datetime import timedelta
from hashlib import sha256

from sqlmodel import col, select, update

from arena.bots import versions
from arena.bots.descriptions import EVERYBODY
from arena.core.specs import TournamentSpec, make_spec
from arena.play.matches import playing
from arena.play.matches.playing import Run
from arena.play.rounds import advance
from arena.queries.tournaments import list_tournaments
from arena.store.models import (
    ArenaKey,
    Bot,
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Rating,
    RatingChange,
    Round,
    Seat,
    Session,
    SessionRecords,
)
from arena.store.storage import Storage, changed
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import nobody_asked
from arena.trust.keys import register_key
from tests.arena.fakes import DECISION_KEY, ROOT, Clock, play_at_once
from tests.referee.key import KEY
from tests.referee.support import timeless

LEASE = timedelta(seconds=30)
SEED = bytes(range(32))


def open_bots(storage: Storage) -> None:
    """Let every organiser enter all bots in rated tournaments."""
    with storage.write() as tx:
        changed(tx, update(Bot).values(open_to=[EVERYBODY]))


class World:
    """An arena for tests of the services."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self.storage = storage
        self.clock = clock
        self.messages: list[int] = []
        register_key(storage, "referee", KEY.public, clock())
        with storage.write() as tx:
            tx.merge(ArenaKey(name=ArenaKey.DECISIONS, key=DECISION_KEY.public, since=clock()))

    def register(self, count: int, owners: int = 4) -> list[str]:
        """Register ``count`` bots of this many owners, which every organiser may enter."""
        names = (f"owner-{number % owners}/bot-{number}" for number in range(count))
        bots = [versions.register_version(self.storage, ROOT, name, self.clock()).bot for name in names]
        open_bots(self.storage)
        return bots

    def spec(self, entrants: list[str], **fields: object) -> TournamentSpec:
        """Return a small round-robin of these entrants, with ``fields`` changed."""
        small = {"name": "cup", "format": "round-robin", "ruleset": "chinese", "sessions": 3, "deals": 2}
        small |= {"allow_same_owner": True}  # most tests concern something else, with bots of few owners
        return make_spec(small | {"entrants": entrants} | fields)

    def tournament(self, count: int = 8, **fields: object) -> TournamentStatus:
        """Start a tournament of ``count`` new bots."""
        return self.tournament_of(self.register(count), **fields)

    def tournament_of(self, entrants: list[str], **fields: object) -> TournamentStatus:
        """Start a tournament of these bots."""
        spec = self.spec(entrants, **fields)
        seed = SEED if spec.name == "cup" else sha256(spec.name.encode()).digest()
        creation.create(self.storage, ROOT, spec, self.clock(), seed)
        return lifecycle.start(self.storage, ROOT, spec.name, self.clock(), nobody_asked)

    def status(self, name: str = "cup") -> TournamentStatus:
        return overview.status(self.storage, name)

    def statuses(self) -> list[TournamentStatus]:
        """Return the status of each tournament, the newest first."""
        return list_tournaments(self.storage).tournaments

    def advance(
        self,
        tournament_id: int,
        at_once: int = 100,
        storage: Storage | None = None,
        round_id: int | None = None,
    ) -> None:
        """Call advance once, and keep its messages in the list."""
        advance.advance(
            storage or self.storage,
            tournament_id,
            self.clock(),
            self.messages.append,
            at_once=at_once,
            again_after=LEASE,
            round_id=round_id,
        )

    def play(self, match_id: int, run: Run = play_at_once, storage: Storage | None = None) -> bool:
        """Do what a worker does with a message."""
        claimed = playing.play(storage or self.storage, match_id, run, clock=self.clock, lease=LEASE)
        return claimed is not None

    def finish(self, tournament_id: int, run: Run = play_at_once) -> None:
        """Advance and play until nothing changes any more."""
        self.advance(tournament_id)
        while self.messages:
            while self.messages:
                self.play(self.messages.pop(0), run)
            self.advance(tournament_id)

    def match_ids(self, state: MatchState | None = None) -> list[int]:
        """Return the ids of the matches in this state, or of all matches."""
        ids = select(Match.id).order_by(col(Match.id))
        with self.storage.read() as tx:
            return list(tx.exec(ids if state is None else ids.where(Match.state == state)))


def played(records: bytes) -> list[str]:
    """Return the play in a session's packed records, without the times of decisions."""
    return [json.dumps(timeless(json.loads(line))) for line in zlib.decompress(records).splitlines()]


def results(storage: Storage) -> dict[str, list[tuple[object, ...]]]:
    """Return everything that counts as a result, by public names, for comparing two runs."""
    with storage.read() as tx:
        rounds = {row.id: row.number for row in tx.exec(select(Round))}
        places = {row.id: (rounds[row.round_id], row.table_number) for row in tx.exec(select(Match))}
        bots_ = {row.id: row.name for row in tx.exec(select(BotVersion))}
        entrants = {row.id: bots_[row.version_id] for row in tx.exec(select(Entrant))}
        seats = {row.id: (*places[row.match_id], row.position) for row in tx.exec(select(Seat))}
        return {
            "sessions": sorted(
                (places[row.match_id], row.number, str(row.seating), str(row.points), played(records))
                for row, records in tx.exec(select(Session, SessionRecords.records).join(SessionRecords))
            ),
            "seats": sorted(
                (seats[row.id], entrants[row.entrant_id], row.points, row.faults)
                for row in tx.exec(select(Seat))
            ),
            "ratings": sorted(
                (bots_[row.version_id], row.value, row.matches, row.deals) for row in tx.exec(select(Rating))
            ),
            "changes": [
                (seats[row.seat_id], row.before, row.after)
                for row in tx.exec(select(RatingChange).order_by(col(RatingChange.id)))
            ],
        }
