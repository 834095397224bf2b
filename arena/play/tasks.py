"""The Celery tasks: messages only wake workers, which read from the database what is to be done.

A message may be lost, late or duplicated. The broker holds no state: every task looks at the rows first.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from celery import Celery, signals
from sqlmodel import select

from arena.bots.estimates import estimate_due
from arena.errors import BrokerError, StorageError
from arena.host.logs import in_one_line
from arena.host.settings import Settings
from arena.leagues.seasons import advance_leagues
from arena.play.broker import (
    ADVANCE,
    ADVANCE_ALL,
    DELIVER,
    ESTIMATE,
    RUN_MATCH,
    TASKS,
    WEIGH,
    clear_drafts,
)
from arena.play.choosing import Referees
from arena.play.matches.playing import Hold, Run, never_held, play
from arena.play.messages import broker_errors, log_in, make_app
from arena.play.rounds.advance import advance, note_problem, running_tournaments
from arena.play.rounds.batches import Connected, everyone
from arena.results.luck.references import weigh_due
from arena.results.ratings.recheck import recheck_due
from arena.results.strength.pools import unfitted
from arena.store.models import Tournament
from arena.store.storage import Storage, open_storage
from arena.store.watch import Watch
from arena.tournaments.lifecycle import start_due
from arena.webhooks.sending import deliver_due, forget_old

MESSAGES_PER_THREAD = 4
"""Matches of a tournament that are handed out ahead of the workers, per thread of one worker."""

BROKER_LOGGERS = (
    "celery.worker.components",
    "celery.worker.consumer.consumer",
    "celery.worker.loops",
    "celery.worker.request",
)
"""Celery's loggers of what a worker does with its connection to the broker."""

BROKEN = "the tournament cannot be advanced"
"""The message that is logged, with a traceback, about an unexpected error in a tournament."""

log = logging.getLogger("arena.play.tasks")


class Tasks:
    """The tasks of a worker; ``send`` sends a message for another task, or raises BrokerError.

    A task that cannot reach the database or the broker logs one line and ends; the beat asks again.
    """

    def __init__(
        self,
        settings: Settings,
        storage: Storage,
        run: Run,
        send: Callable[[str, int], None],
        connected: Connected,
        hold: Hold = never_held,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._run = run
        self._send = send
        self._connected = connected
        self._hold = hold
        self._lease = timedelta(seconds=settings.lease_seconds)
        self._fitting = threading.Lock()
        self._delivering = threading.Lock()
        self._apart: dict[str, threading.Thread] = {}
        """By name, the threads in which long work goes on that no match waits for."""
        self.stopping = threading.Event()

    def advance(self, tournament_id: int) -> None:
        """Advance a tournament."""
        with _absence_logged(f"cannot advance tournament {tournament_id} now"):
            self._advance_apart(tournament_id)

    def advance_all(self) -> None:
        """Start the tournaments that are due, advance all, and end and start the seasons of all leagues."""
        with _absence_logged("cannot advance tournaments now"):
            start_due(self._storage, self._storage.now())
            for tournament_id in running_tournaments(self._storage):
                self._advance_apart(tournament_id)
            advance_leagues(self._storage, self._storage.now())
            self._fit()

    def deliver(self) -> None:
        """Send pending webhook messages, in one thread at most, since matches need the others."""
        if not self._delivering.acquire(blocking=False):
            return  # what that one leaves is due at the next beat
        try:
            with _absence_logged("cannot deliver webhooks now"):
                deliver_due(self._storage, self._settings, self._storage.now, stopping=self.stopping.is_set)
                forget_old(self._storage, self._storage.now())
        finally:
            self._delivering.release()

    def estimate(self) -> None:
        """Estimate what decisions cost, in a thread of its own."""
        self._do_apart("estimates", "cannot estimate decisions now", estimate_due)

    def weigh(self) -> None:
        """Compute what the cards of finished deals were worth, or again if asked, in threads of their own."""
        self._do_apart("references", "cannot compute card values now", weigh_due)
        self._do_apart("recheck", "cannot recompute card values now", recheck_due)

    def _do_apart(self, name: str, trouble: str, work: Callable[..., None]) -> None:
        """Do long work, unless it is being done, in a thread of its own: matches need those of the pool."""

        def do() -> None:
            with _absence_logged(trouble):
                work(self._storage, self._storage.now, time.monotonic, stopping=self.stopping.is_set)

        if name not in self._apart or not self._apart[name].is_alive():
            self._apart[name] = threading.Thread(target=do, name=name, daemon=True)
            self._apart[name].start()

    def run_match(self, match_id: int) -> None:
        """Have a match played, if it still has to be, and advance its tournament."""
        try:
            claimed = play(
                self._storage,
                match_id,
                self._run,
                clock=self._storage.now,
                lease=self._lease,
                hold=self._hold,
                stopping=self.stopping.is_set,
            )
        except StorageError:
            return  # it is logged
        if claimed is not None:
            with _absence_logged(f"cannot advance the tournament of match {match_id} now"):
                self._advance_apart(claimed.tournament_id, claimed.round_id)

    def _advance_apart(self, tournament_id: int, round_id: int | None = None) -> None:
        """Advance a tournament; errors in it are logged and noted, and affect no others."""
        try:
            self._advance(tournament_id, round_id)
        except (StorageError, BrokerError):
            raise
        except Exception as error:
            note_problem(self._storage, tournament_id, error)
            with self._storage.read() as tx:
                # The name alone: the rest of the row may be what is wrong.
                name = tx.exec(select(Tournament.name).where(Tournament.id == tournament_id)).one()
            log.exception("%s: %s", name, BROKEN, extra={"tournament": name})

    def _advance(self, tournament_id: int, round_id: int | None) -> None:
        closed = advance(
            self._storage,
            tournament_id,
            self._storage.now(),
            lambda match_id: self._send(RUN_MATCH, match_id),
            at_once=self._settings.worker_threads * MESSAGES_PER_THREAD,
            again_after=self._lease,
            connected=self._connected,
            round_id=round_id,
        )
        if closed:
            self._fit()

    def _fit(self) -> None:
        """Fit the strengths that are due, unless another thread does; errors affect nothing else."""
        if not self._fitting.acquire(blocking=False):
            return  # what it leaves is due at the next beat
        try:
            with self._storage.read() as tx:
                if not unfitted(tx):
                    return
            from arena.results.strength.fitting import (
                fit_due,  # NumPy, which most workers need late if at all
            )

            fit_due(self._storage, self._storage.now())
        except StorageError:
            raise
        except Exception:
            log.exception("cannot fit strengths")
        finally:
            self._fitting.release()


@contextmanager
def _absence_logged(what: str) -> Iterator[None]:
    """Log in one line that the database or the broker is away."""
    try:
        yield
    except (StorageError, BrokerError) as error:
        log.warning("%s: %s", what, error)


def _while_it_fits(task: Callable[..., None], fits: Callable[[], bool]) -> Callable[..., None]:
    def do(*arguments: int) -> None:
        with _absence_logged("cannot read the database's schema now"):
            if not fits():
                return
        task(*arguments)

    return do


def make_worker_app(
    settings: Settings,
    storage: Storage,
    run: Run,
    connected: Connected = everyone,
    hold: Hold = never_held,
    fits: Callable[[], bool] = lambda: True,
) -> Celery:
    """Return the Celery app of these settings with its tasks, for a worker.

    It does nothing any more once ``fits`` says that the database has another schema.
    """
    app = make_app(settings)

    def send(task: str, number: int) -> None:
        with broker_errors():
            app.send_task(task, [number])

    tasks = Tasks(settings, storage, run, send, connected, hold)
    for name, task in (
        (ADVANCE, tasks.advance),
        (ADVANCE_ALL, tasks.advance_all),
        (RUN_MATCH, tasks.run_match),
        (DELIVER, tasks.deliver),
        (ESTIMATE, tasks.estimate),
        (WEIGH, tasks.weigh),
    ):
        app.task(_while_it_fits(task, fits), name=name, shared=False)
    app.finalize()
    for name in app.tasks.keys() - TASKS.keys():
        app.tasks.unregister(name)  # Celery's own, with which a message could run several others
    # A worker that is told to stop waits for its tasks, which let open sessions end and hand back the rest.
    signals.worker_shutting_down.connect(lambda **_: tasks.stopping.set(), weak=False)
    return app


def tell_lost_brokers_in_one_line(app: Celery) -> None:
    """Keep tracebacks out of the log when a broker is lost.

    The worker waits for the broker, and gets again what it could not acknowledge.
    """
    troubles = app.connection_for_write().connection_errors
    for name in BROKER_LOGGERS:
        logging.getLogger(name).addFilter(partial(in_one_line, troubles=troubles))


def run_worker(settings: Settings, run: Run | None = None, hold: Hold = never_held) -> None:
    """Run a worker in this process until it is told to stop; ``run`` and ``hold`` can replace the referees.

    Raise BrokerError if the broker refuses it, SchemaError if the database's schema is changed meanwhile,
    and what ``open_storage`` raises.
    """
    with open_storage(settings) as storage, Watch(storage, "worker") as watch:
        referees = Referees(settings)
        seams = (run, everyone, hold) if run else (referees.run, referees.connected, referees.hold)
        with broker_errors():
            app = make_worker_app(settings, storage, *seams, fits=watch.fits)
            if settings.broker_folder is not None:
                clear_drafts(settings.broker_folder, time.time())
        log_in(app)
        tell_lost_brokers_in_one_line(app)
        if app.connection_for_write().transport.driver_type == "redis":
            from arena.play import redis_broker  # which needs the package redis

            redis_broker.install()
        app.Worker(  # Celery's command line, which makes one of these, loads a shell to type in
            pool_cls="threads",
            concurrency=settings.worker_threads,
            loglevel=logging.WARNING,
            quiet=True,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        ).start()
