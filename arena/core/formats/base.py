"""What every tournament format declares about itself, and what it is given."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, NamedTuple

from arena.core.pairing.report import TableReason
from arena.core.pairing.search import by_owner, check_tables, would_meet
from arena.core.pairing.values import History, Pairing, Past, Recent
from arena.core.ranking import Criteria, MatchOutcome, Results
from arena.errors import SpecError
from referee.reading.validation import short

MOST_ENTRANTS = 10_000

PAIRING_VERSION = 1
"""The version of all that draws pairings; it changes if the same tournament would be paired differently."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A tournament as it was asked for."""

    size: int
    """Bots at a table."""
    rounds: int | None = None
    """Rounds; None for as many as the format takes, or until the tournament is stopped."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Options of the format."""
    lots: bytes = b""
    """The seed of all lots."""
    owners_apart: bool = False
    """Whether no owner may have two bots at a table."""


class Rated(NamedTuple):
    """A rating, and the weight of the matches behind it."""

    value: float
    weight: float
    """The total weight of its matches."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A tournament as it is when a round is paired; what is expensive is computed only on request.

    Entrants are given as their numbers in the list of entrants.
    """

    entrants: Sequence[int]
    """All entrants, in the order of seeding."""
    present: Collection[int]
    """Who can be seated in the next round: those who have come and not withdrawn, and who are free."""
    paired: int = 0
    """Rounds paired so far."""
    past: Past = field(default_factory=Past)
    """These rounds; empty if ``recent`` has all that matters."""
    owners: Mapping[int, int] = field(default_factory=dict)
    """Entrant to owner."""
    outcomes: Callable[[], Sequence[MatchOutcome]] = tuple
    """Returns how the finished matches ended."""
    results: Callable[[], Results] = lambda: Results({}, ())
    """Returns what the standings follow from, byes among it."""
    ratings: Callable[[], Mapping[int, Rated]] = dict
    """Returns the ratings of those present."""
    recent: Callable[[], Recent] = lambda: Recent({}, ())
    """Returns the recent past that matters to a batch."""

    def history(self, setup: Setup, scores: Mapping[int, float] | None = None) -> History:
        """Return the past that matters to a new round."""
        return History(
            tables=self.past.tables,
            byes=[*chain.from_iterable(self.past.byes)],
            owners=self.owners,
            scores=scores or {},
            owners_apart=setup.owners_apart,
        )


class Choice(NamedTuple):
    """One of a few words that can be set for a tournament of one format."""

    name: str
    values: tuple[str, ...]
    """The words; the first is the default."""

    def of(self, setup: Setup) -> str:
        """Return what was given, or else the default."""
        return str(setup.options.get(self.name, self.values[0]))

    def rule(self, value: object, entrants: int, size: int) -> str | None:
        """Return what a value must be, if it is not; None if it is."""
        return None if value in self.values else f"must be one of {', '.join(self.values)}"


class Option(NamedTuple):
    """A whole number that can be set for a tournament of one format."""

    name: str
    default: Callable[[int], int]
    """Returns the default for tables of a size."""
    limits: Callable[[int, int], tuple[int, int]]
    """Returns the smallest and the largest value for a number of entrants and a size of tables."""

    def of(self, setup: Setup) -> int:
        """Return what was given, or else the default."""
        given = setup.options.get(self.name)
        return given if isinstance(given, int) else self.default(setup.size)

    def rule(self, value: object, entrants: int, size: int) -> str | None:
        """Return what a value must be, if it is not; None if it is."""
        least, most = self.limits(entrants, size)
        fits = type(value) is int and least <= value <= most
        return None if fits else f"must be a whole number from {least} to {most}"


class Format(ABC):
    """A way to run a tournament: everything that differs from format to format."""

    name: ClassVar[str]
    """Its name in specifications, exports and tables."""
    summary: ClassVar[str]
    """How it goes, in a few words, for those who choose one."""
    criteria: ClassVar[Criteria]
    """What decides its standings."""
    schedule: ClassVar[str]
    """Why its tables are as they are, for rounds without reasons of their own."""
    options: ClassVar[Sequence[Option | Choice]] = ()
    """The settings that only this format has."""
    late_entry: ClassVar[bool] = False
    """Whether bots can enter a tournament that has started; otherwise it is planned as a whole."""
    withdrawal: ClassVar[bool] = False
    """Whether bots can leave a tournament once it is locked."""
    owners_part: ClassVar[bool] = False
    """Whether it keeps an owner's bots apart however long it goes on; otherwise any of them may meet."""
    in_batches: ClassVar[bool] = False
    """Whether tables are seated as bots become free, in overlapping batches, instead of round after round."""
    eliminates: ClassVar[bool] = False
    """Whether only the best of each table play on, so that its rounds are a bracket."""

    @abstractmethod
    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the rounds of a whole tournament; None if it goes on until it is stopped."""

    def tables_to_come(self, setup: Setup, entrants: int, paired: int) -> int:
        """Return how many tables are still to be paired if nobody comes or goes; 0 if nobody knows.

        ``entrants`` are the ones still playing; ``paired`` are the rounds paired so far.
        """
        rounds = self.total(setup, entrants)
        return 0 if rounds is None else max(0, rounds - paired) * (entrants // setup.size)

    @abstractmethod
    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next round, or several that do not depend on results; none if nothing is left."""

    def check(self, setup: Setup, entrants: int, *, more: bool = False) -> None:
        """Raise SpecError if options or rounds do not suit the format or the number of entrants.

        If ``more`` may enter, only what they cannot mend is wrong.
        """
        if entrants > MOST_ENTRANTS:
            raise SpecError("entrants", f"{entrants} are too many: at most {MOST_ENTRANTS}")
        known = {option.name: option for option in self.options}
        for name, value in setup.options.items():
            if name not in known:
                has = f"only {', '.join(known)}" if known else "no options"
                raise SpecError(f"options.{name}", f"no such option; {self.name} has {has}")
            if rule := known[name].rule(value, MOST_ENTRANTS if more else entrants, setup.size):
                raise SpecError(f"options.{name}", f"{rule}, not {short(value)}")
        self.check_rounds(setup.rounds, entrants)

    def check_rounds(self, rounds: int | None, entrants: int) -> None:  # noqa: B027  (most have any)
        """Raise SpecError if the format cannot have this number of rounds."""

    def check_owners(self, setup: Setup, bots: Sequence[str], *, more: bool = False) -> None:
        """Raise SpecError if bots of one owner would have to sit together, sooner or later.

        ``bots`` are the entrants' names in the order of seeding. If ``more`` may enter, only what they cannot
        mend is wrong.
        """
        never_meet = self.never_meet(setup, bots)
        for own in by_owner(bots):
            if self.owners_part:
                check_tables(own, MOST_ENTRANTS if more else len(bots), setup.size)
            elif len(own) > 1 and not never_meet.issuperset(own):
                raise would_meet(own, self.name)

    def never_meet(self, setup: Setup, bots: Sequence[str]) -> set[str]:
        """Return bots of which no two ever sit at one table."""
        return set()

    def least_free(self, setup: Setup, others_play: bool) -> int:
        """Return how many bots have to be free for a batch; ``others_play`` if tables are being played."""
        return setup.size

    def reasons(self, setup: Setup, situation: Situation, pairing: Pairing) -> list[TableReason]:
        """Return why the round after ``situation`` has these tables; empty if ``schedule`` says it."""
        return []
