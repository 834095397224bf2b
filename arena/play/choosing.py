"""Which referee plays a match: where its bots are, the least busy one; a referee that fails is left alone."""

import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing

from arena.host.settings import Settings
from arena.tournaments.referees import Answer, ask_referees
from referee.errors import AttemptsBegun, NotBegun, RefereeUnavailable
from referee.matches.match import Attempt, MatchSpec, Update
from referee.net.client import KeptChannels, RefereeStatus, hold_match, run_match

STATUS_SECONDS = 2.0
"""How long a referee may take to report its load before a match goes to another one."""

REST_SECONDS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""How long a referee is left alone, by how often in a row it has failed; the last value is the longest."""

RESTING = "is left alone for a while, as it has failed"


class Rests:
    """Addresses that are left alone for a while because they have failed, for all threads of a worker."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[str, int] = {}
        self._failed_at: dict[str, float] = {}
        self._until: dict[str, float] = {}

    def failed(self, address: str, begun_at: float) -> None:
        """Leave an address alone, longer after each failure in a row.

        ``begun_at`` is when what failed began: if that was before the last failure was known, it is the same.
        """
        with self._lock:
            if begun_at >= self._failed_at.get(address, begun_at):
                self._failures[address] = self._failures.get(address, 0) + 1
                self._failed_at[address] = self._clock()
                self._rest(address)

    def succeeded(self, address: str) -> None:
        """Forget the failures of an address."""
        with self._lock:
            for by_address in (self._failures, self._failed_at, self._until):
                by_address.pop(address, None)

    def take_due(self, addresses: Sequence[str]) -> list[str]:
        """Return those that are not left alone. One that failed is returned to one thread at a time."""
        with self._lock:
            due = [address for address in addresses if self._clock() >= self._until.get(address, 0.0)]
            for address in due:
                if address in self._failures:
                    self._rest(address)
            return due

    def _rest(self, address: str) -> None:
        place = min(self._failures[address], len(REST_SECONDS)) - 1
        self._until[address] = self._clock() + REST_SECONDS[place]


class Referees:
    """The configured referees, and which of them plays what. Raise SettingsError for an invalid TLS file."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._kept = KeptChannels(settings.client_tls())
        self._silent, self._refusing = Rests(clock), Rests(clock)
        self._places: dict[str, str] = {}
        """The addresses where matches are played, by the matches' names."""

    def run(self, route: int, spec: MatchSpec) -> Generator[Update]:
        """Have one of them play a match. Raise RefereeUnavailable, MatchRefused, AttemptsBegun."""
        address, begun_at = self.choose(route, spec), self._clock()
        self._places[spec.match_id] = address
        channel = self._kept.take(address)
        try:
            with closing(
                run_match(address, self._settings.worker_secret(), spec, channel=channel)
            ) as updates:
                for update in updates:
                    self._refusing.succeeded(address)
                    yield update
        except RefereeUnavailable as error:
            self._kept.close(address)
            if isinstance(error, NotBegun):
                self._refusing.failed(address, begun_at)
            raise
        finally:
            self._places.pop(spec.match_id, None)

    def hold(self, match_id: str) -> None:
        """Have a running match begin no further session; raise RefereeUnavailable."""
        address = self._places.get(match_id)
        if address is not None:
            channel = self._kept.take(address)  # this thread waits for that match
            hold_match(address, self._settings.worker_secret(), match_id, channel=channel)

    def connected(self, version_ids: Sequence[int]) -> set[int]:
        """Return which of these bot versions they could seat."""
        return {
            version_id
            for answer in self._ask(version_ids)
            if (status := answer.usable) is not None
            for version_id, bot in zip(version_ids, status.bots, strict=True)
            if bot.connected and bot.max_sessions >= 1
        }

    def choose(self, route: int, spec: MatchSpec) -> str:
        """Return the address of the best one for a match. Raise NotBegun if none can play it.

        Raise AttemptsBegun if one of them has begun an attempt of the match before.
        """
        addresses = self._settings.referees
        if len(addresses) == 1:
            return addresses[0]  # which refuses such a match itself
        answers = self._ask([bot.version_id for bot in spec.bots], spec.attempts.values())
        for answer in answers:
            if answer.status is not None and answer.status.begun:
                raise AttemptsBegun(answer.address, answer.status.begun)
        usable = [answer.address for answer in answers if answer.usable is not None]
        return best_referee(answers, route, self._refusing.take_due(usable) or usable)

    def _ask(self, version_ids: Sequence[int], attempts: Collection[Attempt] = ()) -> list[Answer]:
        """Return what each says of these versions. Silent ones left alone are asked if no other can play.

        Those that refuse matches are asked, too: they may have begun an attempt.
        """

        def ask(addresses: Sequence[str]) -> None:
            begun_at = self._clock()
            for answer in ask_referees(
                addresses,
                self._settings.worker_secret(),
                version_ids,
                attempts=attempts,
                channels=self._kept,
                timeout=STATUS_SECONDS,
            ):
                answers[answer.address] = answer
                if answer.status is None:
                    self._silent.failed(answer.address, begun_at)
                else:
                    self._silent.succeeded(answer.address)

        everywhere = self._settings.referees
        answers = {address: Answer(address, None, RESTING) for address in everywhere}
        due = self._silent.take_due(everywhere)
        ask(due)
        if all(answer.usable is None for answer in answers.values()):
            ask([address for address in everywhere if address not in due])
        return [*answers.values()]


def best_referee(answers: Sequence[Answer], route: int, among: Collection[str] | None = None) -> str:
    """Return the best referee for a match, given the status of each; with ``among``, one of these addresses.

    Raise NotBegun if none can play it.
    """
    usable = [
        (preference(status), (place - route) % len(answers), answer.address)
        for place, answer in enumerate(answers)
        if (status := answer.usable) is not None and (among is None or answer.address in among)
    ]
    if not usable:
        raise NotBegun("; ".join(f"referee {answer.address} {answer.trouble}" for answer in answers))
    return min(usable)[-1]


def preference(status: RefereeStatus) -> tuple[bool, int, int]:
    """Return a sort key that is lowest for the best referee for a match, by its status for the match's bots.

    It compares whether all bots can play there, then how many are connected, then the referee's load.
    """
    all_there = all(bot.connected and bot.max_sessions >= 1 for bot in status.bots)
    return not all_there, -sum(bot.connected for bot in status.bots), status.sessions
