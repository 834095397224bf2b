"""The results of checking exports, and the links between exports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.core.corrections import Correction
from arena.core.formats import FORMATS
from arena.core.parts import SessionLine
from arena.trust.exports.lines import is_close
from arena.trust.verify.pooled import Numbers, PooledRound

Where = tuple[str, int, int, str]
"""The place where a rating changed: tournament, round, table and bot."""


UNPROVEN = (
    "that the commitment was published in time: compare it with what anyone noted, or bots were sent",
    "that actions and faults are those of the bots, where the organiser has the referees' keys: a bot's own"
    " log (--with) tells",
    "that absences, time-outs, stalls and disconnects were the bots' own, and how long bots thought: only the"
    " referees measure that",
    "that times of events are right, and that results were provisional or not before they ended",
    "that different owners are different people",
    "that late entries, withdrawals, pauses, stops and cancellations were not timed to somebody's advantage",
    "that no session was played before, and given up, with the same cards",
)
"""What no export can prove, even a correct one."""

ALONE = "that the organiser did not draw several seeds and choose one: there was no beacon"
STATED = "that the beacon {!r} said {!r}, and only after the tournament was locked: look it up"
TICKETS = "that {} was the only tournament locked before that beacon: the best of several could be kept"
TOGETHER = "that none of {} was chosen for its cards: they had one beacon, so they were as many tickets"
NEW = "that bots said to be new under the ruleset had no rating from a tournament whose export is not given"
BATCHES = "who was free for each batch of a continuous tournament, and what these were rated then"
DECIDED = "that corrections are right, their reasons and times too: the arena's key in the head signed them"
BOARD = (
    "strengths, what was expected from cards (beta), that no `reference` part is missing, and when the last"
    " round was rated: the board of the pool tells (arena rating export)"
)
UNKNOWN = "card values by {}, which this program does not know"
LEFT_OUT = "card values of {} deals: recomputing them takes too long"
ELSEWHERE = "the ratings that come from tournaments whose exports are not given, wrong or unfinished: {}"


@dataclass(frozen=True, slots=True)
class Link:
    """A rating that an export takes from another tournament."""

    line: int
    where: Where
    rating: float


@dataclass(frozen=True, slots=True)
class Rated:
    """A round that was rated."""

    round: int
    first: int
    """Matches rated under the ruleset before it."""
    tables: int
    sources: Mapping[str, Where | None]
    """For each bot, where its rating came from; None if it had none."""
    places: Mapping[str, Where]
    """For each bot, where it was rated."""


@dataclass(slots=True)
class Key:
    """A key with which referees sign."""

    referee: str
    added_at: str | None = None
    """When it was added; None if it is in the head."""
    sessions: int = 0
    """Number of sessions that it has signed."""


class ToldFault(NamedTuple):
    """A fault as the bot itself was told of it."""

    action: int
    kind: str
    ms: int
    credit_ms: int


@dataclass(frozen=True, slots=True)
class CheckedSession:
    """A session of an export, for comparison with bots' logs."""

    line: SessionLine
    seats: tuple[str, ...]
    attempts: tuple[int, ...]
    """For each deal, the attempt that dealt it."""
    digests: tuple[str, ...]
    """For each deal, the digest of the deals up to it, as shown to all seats."""
    own_faults: tuple[Mapping[str, tuple[ToldFault, ...]], ...]
    """For each deal, the faults of each bot."""

    @property
    def attempt(self) -> int:
        """The attempt that played it to its end."""
        return self.line.attempts


@dataclass(slots=True)
class Report:
    """The result of checking an export."""

    tournament: str = ""
    """The tournament's name; empty if not even that could be read."""
    state: str = ""
    commitment: str = ""
    """Digest of the head, to be compared with one recorded before the tournament."""
    beacon: str | None = None
    """The public value that was mixed into the seed; None if the organiser alone drew it."""
    beacon_value: str | None = None
    """The claimed value of the beacon; None if there is none, or the tournament was not started."""
    entrants: int = 0
    rounds: int = 0
    matches: int = 0
    deals: int = 0
    problem: str | None = None
    """The first difference, with where it is; None if there is none."""
    is_linked: bool = True
    """Whether the export is compared with others, which takes where and when each bot was rated."""
    has_new: bool = False
    """Whether bots are said to be new under the ruleset."""
    links: list[Link] = field(default_factory=list)
    """Ratings that can only be checked with the exports of other tournaments."""
    ratings: dict[Where, float] = field(default_factory=dict)
    """Ratings after each match, for the links of other exports, if it ``is_linked``."""
    pairing: str = ""
    """The format."""
    seed_hash: str = ""
    ruleset_hash: str = ""
    keys: dict[str, Key] = field(default_factory=dict)
    """The referees' public keys, in hexadecimal digits."""
    session_names: frozenset[str] = frozenset()
    """Public names of the sessions that are to be reported."""
    sessions: dict[str, CheckedSession] = field(default_factory=dict)
    """Those of them that are in the export."""
    played_by: Counter[str] = field(default_factory=Counter)
    """How many sessions each bot played."""
    not_done: dict[tuple[int, int], str] = field(default_factory=dict)
    """The state of each match that is not done, by round and table."""
    first_attempts: dict[int, int] = field(default_factory=dict)
    """For each round, the lowest number of an attempt at one of its sessions that ended or was void."""
    rated: list[Rated] = field(default_factory=list)
    """The rounds that were rated, in the order of rating, if it ``is_linked``."""
    pool: Numbers | None = None
    """The numbers of bots in the ``pooled`` rounds; None if boards are not checked."""
    pooled: list[PooledRound] = field(default_factory=list)
    """What its rounds that have ended add to the pool."""
    is_rated: bool = False
    """Whether its matches are rated."""
    decision_key: str | None = None
    """The arena's public key, according to the head."""
    restored: list[int] = field(default_factory=list)
    """For each restored backup, the number above which later attempts are numbered."""
    weighed: int = 0
    """Deals of which it says what their cards were worth, by a reference that is known here."""
    computed: int = 0
    """How many of these were computed again."""
    left_out: int = 0
    """How many were to be computed again, and were not, because it takes too long."""
    unknown_references: set[str] = field(default_factory=set)
    """The names of other references by which it says that."""
    provisional: bool = False
    """Whether the results wait for the organiser to confirm them."""
    corrections: list[Correction] = field(default_factory=list)
    """The organiser's corrections of the standings after the end."""

    def add(self, match: "Report") -> None:
        """Add what a report of the deals of one match says."""
        self.deals += match.deals
        self.sessions |= match.sessions
        self.played_by.update(match.played_by)
        for round, attempt in match.first_attempts.items():
            note_attempt(self, round, attempt)
        for key, signer in match.keys.items():
            self.keys[key].sessions += signer.sessions


def note_attempt(report: Report, round: int, attempt: int) -> None:
    """Record an attempt at a session of a round."""
    report.first_attempts[round] = min(attempt, report.first_attempts.get(round, attempt))


def unproven(reports: Sequence[Report], *, with_board: bool = False) -> list[str]:
    """Return in words what these exports do not prove even if they are correct.

    ``with_board`` says whether the board of a pool was checked with them.
    """
    claims = list(UNPROVEN)
    right = {report.tournament for report in reports if report.problem is None}
    missing = {link.where[0] for report in reports for link in report.links} - right
    if any(report.beacon is None for report in reports):
        claims.append(ALONE)
    spoken = [each for each in reports if each.beacon_value is not None]
    claims += [STATED.format(each.beacon, each.beacon_value) for each in spoken]
    for value in dict.fromkeys(each.beacon_value for each in spoken):
        alike = dict.fromkeys(each.tournament for each in spoken if each.beacon_value == value)
        claims.append((TOGETHER if len(alike) > 1 else TICKETS).format(" and ".join(alike)))
    if any(report.has_new for report in reports):
        claims.append(NEW)
    if any(report.pairing and FORMATS[report.pairing].in_batches for report in reports):
        claims.append(BATCHES)
    if any(report.corrections for report in reports):
        claims.append(DECIDED)
    if unknown := {name for report in reports for name in report.unknown_references}:
        claims.append(UNKNOWN.format(", ".join(sorted(unknown))))
    if not with_board and any(report.is_rated for report in reports):
        claims.append(BOARD)
    if left_out := sum(report.left_out for report in reports):
        claims.append(LEFT_OUT.format(left_out))
    if missing:
        claims.append(ELSEWHERE.format(", ".join(sorted(missing))))
    return claims


def check_links(reports: Sequence[Report]) -> str | None:
    """Return the first inconsistency between exports; None if there is none.

    One in which a problem was found, as in any of a tournament that has not ended, says nothing about others.
    """
    right = [report for report in reports if report.problem is None]
    return _namesake(right) or _twice(right) or _differs(right) or _not_latest(right)


def _namesake(reports: Sequence[Report]) -> str | None:
    """Return the first tournament that has the name of another one."""
    seen: dict[str, str] = {}
    for report in reports:
        commitment, earlier = report.commitment, seen.setdefault(report.tournament, report.commitment)
        if commitment and commitment != earlier:
            return (
                f"{report.tournament}: is the name of two tournaments, "
                f"with the commitments {earlier} and {commitment}"
            )
    return None


def _twice(reports: Sequence[Report]) -> str | None:
    """Return the first tournament that has the seed of another, or of which there are two exports."""
    seen: dict[str, Report] = {}
    for report in reports:
        if (other := seen.get(report.seed_hash)) is not None:
            if report.commitment == other.commitment:
                return f"{report.tournament}: two of the files are exports of this tournament; give only one"
            return f"{report.tournament}: has the seed of {other.tournament}"
        if report.seed_hash:
            seen[report.seed_hash] = report
    return None


def _not_latest(reports: Sequence[Report]) -> str | None:
    """Return the first rating that does not come from its bot's latest match in these exports."""
    names = {report.tournament for report in reports}
    for pool in sorted({report.ruleset_hash for report in reports}):
        latest: dict[str, Where] = {}
        end, before = 0, ""
        rated = [(part, report) for report in reports if report.ruleset_hash == pool for part in report.rated]
        for part, report in sorted(rated, key=lambda pair: pair[0].first):
            name = f"{report.tournament}, round {part.round}"
            if part.first < end:
                return f"{name}: was rated after {part.first} matches, as was {before}"
            end, before = part.first + part.tables, name
            for bot, source in part.sources.items():
                last = latest.get(bot)
                if last is not None and source != last and (source is None or source[0] in names):
                    return f"{name}: the rating of {bot} is not its latest, of {last[0]}, round {last[1]}"
            latest |= part.places
    return None


def _differs(reports: Sequence[Report]) -> str | None:
    """Return the first rating that differs from the export that it comes from."""
    after: dict[Where, float] = {}
    names = {report.tournament for report in reports}
    for report in reports:
        after |= report.ratings
    for report in reports:
        for link in report.links:
            tournament, round, table, bot = link.where
            if tournament not in names:
                continue
            place = f"{report.tournament}: line {link.line}: pool: the rating of {bot}"
            source = f"round {round}, table {table} of {tournament}"
            if link.where not in after:
                return f"{place} is said to come from {source}, where it was not rated"
            if not is_close(after[link.where], link.rating):
                return f"{place}: is {link.rating:g}, should be {after[link.where]:g} as after {source}"
    return None
