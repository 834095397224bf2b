"""A match while it runs: its tables, and what came of those that are finished."""

from collections import deque
from collections.abc import Callable

from referee.matches.broadcast import Broadcast
from referee.matches.events import Sight
from referee.matches.match import MatchSpec, SessionResult
from referee.matches.table import Table
from referee.rules.plays import Rules


class Match:
    """A running match."""

    def __init__(self, spec: MatchSpec, rules: Rules, ruleset: str, wake: Callable[[], None]) -> None:
        self.spec = spec
        self.rules = rules
        self.ruleset = ruleset
        self.deadline: float | None = None
        """When absent bots are waited for no longer; None while nobody is waited for."""
        self.waiting = deque(spec.sessions)
        self.tables: dict[int, Table] = {}
        """Open tables by handle."""
        self.results: list[SessionResult] = []
        """Finished sessions that were not fetched yet."""
        self.decisions = 0
        """Turns asked at the closed tables."""
        self.ended = ""
        """Why the match was stopped; empty while it was not."""
        self.cut = False
        """Whether sessions were left to another referee, as this one drains."""
        self.held = False
        """Whether no further session begins, as the worker asked for."""
        self.voided = 0
        """Sessions that were stopped because the referee could not hand out a turn."""
        self.broadcast = Broadcast(self._sights)
        self.wake = wake

    def _sights(self) -> list[Sight]:
        return [sight for table in self.tables.values() for sight in table.sights()]

    @property
    def done(self) -> bool:
        """Whether all sessions are finished."""
        return not self.waiting and not self.tables

    def take_results(self) -> list[SessionResult]:
        results, self.results = self.results, []
        return results

    def add_result(self, table: Table) -> None:
        """A table has finished its session."""
        self.decisions += table.decisions
        self.results.append(
            SessionResult(
                number=table.info.number,
                points=tuple(table.session.scores),
                forfeit=table.session.forfeited_by,
                records=tuple(table.records),
                faults=table.faults,
            )
        )
        self.wake()
