"""Continuous tournaments: free bots are seated with others of similar rating, without rounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.core.elo import uncertainty
from arena.core.formats.base import MOST_ENTRANTS, Format, Option, Setup, Situation
from arena.core.pairing.search import Costs, first_seated, placed, seat
from arena.core.pairing.values import History, Pairing, generator
from arena.core.ranking import Criteria

GATHER = Option("gather", default=lambda size: 2 * size, limits=lambda entrants, size: (size, MOST_ENTRANTS))
"""How many bots gather before they are seated, while other tables are played."""

REMATCH = 100
"""A recent match together counts as much as a gap of this many rating points between two."""

SWAPS_A_TABLE = 400
"""Swaps tried per table: a batch mostly has few tables, and one is paired whenever a match is done."""


class Continuous(Format):
    """Batches of tables, each seated as soon as enough bots are free."""

    name = "continuous"
    summary = "tables as bots become free, until it is stopped"
    criteria = Criteria(("mean", "opponents", "wins", "points"))
    schedule = "tables are of like rating among the bots that were free"
    options = (GATHER,)
    late_entry = True
    withdrawal = True
    owners_part = True
    in_batches = True

    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the batches that were asked for."""
        return setup.rounds

    def tables_to_come(self, setup: Setup, entrants: int, paired: int) -> int:
        """Return 0: how many tables a batch has depends on who is free."""
        return 0

    def least_free(self, setup: Setup, others_play: bool) -> int:
        """Return how many bots have to gather.

        The bots of a finished table could only meet each other again; while others play, more will become
        free.
        """
        return GATHER.of(setup) if others_play else setup.size

    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next batch; none if there are too few owners.

        It has no byes: whoever keeps waiting has not missed anything.
        """
        seats, tables = situation.recent()
        rated = situation.ratings()
        first = sorted(
            situation.present, key=lambda number: (seats.get(number, 0), rated[number].weight, number)
        )
        waiting = [
            Waiting(number, rated[number].value, uncertainty(rated[number].weight, setup.size) / 2)
            for number in first
        ]
        recent = replace(situation.history(setup), tables=tables, byes=())
        batch = continuous(waiting, setup.size, recent, situation.paired + 1, setup.lots)
        return [Pairing(batch.tables)] if batch.tables else []


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entrant that is free."""

    entrant: int
    rating: float
    uncertainty: float
    """How many points the rating may well be off."""


class Closeness(Costs):
    """The cost of two sitting together: ratings further apart than their uncertainty explains.

    Two of one owner cost more than anything else; a recent match together costs as much as a gap of
    ``REMATCH`` points, because a rematch may well be the best table there is.
    """

    def __init__(self, waiting: Sequence[Waiting], size: int, recent: History) -> None:
        super().__init__([bot.entrant for bot in waiting], size, recent, gaps=False)
        self.level = [round(bot.rating) for bot in waiting]
        self.slack = [round(bot.uncertainty) for bot in waiting]
        self.repeat = REMATCH**2
        reach = max(self.level, default=0) - min(self.level, default=0)
        # More than an exchange can spare, as in Costs.
        self.same_owner = size * size * (reach**2 + max(100, self.often) * self.repeat)

    def beside(self, one: int, others: Sequence[int]) -> int:
        """Return the cost of place ``one`` sitting with ``others``."""
        cost = 0
        for other in others:
            gap = abs(self.level[one] - self.level[other]) - self.slack[one] - self.slack[other]
            cost += max(0, gap) ** 2 + self.repeat * self.times_met(one, other)
            if self.owner[one] == self.owner[other]:
                cost += self.same_owner
        return cost


def continuous(waiting: Sequence[Waiting], size: int, recent: History, batch: int, seed: bytes) -> Pairing:
    """Return tables of those who wait, as many as they fill; the last in line keep waiting, as byes.

    ``recent`` holds the tables that are too recent to be played again so soon; ``batch`` counts from 1 and
    only sets the lots. If no owner may be twice at a table, those whose owner has somebody ahead of them in
    line for every table keep waiting, too; nobody is passed over for any other reason.
    """
    rng = generator(seed, f"continuous/{batch}")
    line = [bot.entrant for bot in waiting]
    seated = first_seated(line, size, recent.owners if recent.owners_apart else {})
    playing = sorted(
        (bot for bot in waiting if bot.entrant in seated), key=lambda bot: (-bot.rating, bot.entrant)
    )
    swaps = SWAPS_A_TABLE * (len(playing) // size)
    tables = seat(len(playing), size, Closeness(playing, size, recent), rng, swaps)
    named = [[playing[place].entrant for place in table] for table in tables]
    return placed(named, [entrant for entrant in line if entrant not in seated], recent, rng)
