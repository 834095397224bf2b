"""Messages between the arena's processes: the Celery app, waking a worker, and the beat.

``tasks`` has what a worker does with them.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from amqp.exceptions import AMQPError  # type: ignore[import-untyped]
from celery import Celery, signals
from celery.beat import ScheduleEntry, Scheduler, SchedulingError
from kombu.exceptions import KombuError

from arena.errors import BrokerError
from arena.host.settings import Settings
from arena.play import broker
from arena.play.broker import ADVANCE, ADVANCE_ALL, DELIVER, ESTIMATE, WEIGH

log = logging.getLogger("arena.play.messages")


def make_app(settings: Settings) -> Celery:
    """Return the Celery app of these settings, without tasks: enough to send messages."""
    signals.setup_logging.connect(_leave_logging, weak=False)
    app = Celery("arena", set_as_current=False)
    app.conf.update(_config(settings))
    return app


def _leave_logging(**_: object) -> None:
    """Keep Celery from configuring logging, which it does unless this signal has a receiver."""


def wake(settings: Settings, tournament_id: int) -> None:
    """Ask a worker to advance a tournament at once instead of at the next beat; raise BrokerError."""
    with broker_errors(), make_app(settings) as app:
        app.send_task(ADVANCE, [tournament_id])


@contextmanager
def broker_errors() -> Iterator[None]:
    """Report failures of the broker as BrokerError, in one line."""
    try:
        yield
    except (KombuError, AMQPError, OSError, ImportError) as error:  # RabbitMQ's refusals are AMQP's own
        raise BrokerError(f"setting broker_url: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"cannot use {error.filename}: {error.strerror}"
    return (str(error).splitlines() or [type(error).__name__])[0]


def log_in(app: Celery) -> None:
    """Raise BrokerError if the broker refuses these settings; if it is away, it will be waited for later."""
    with suppress(KombuError, OSError), app.connection_for_write() as connection:
        try:
            connection.ensure_connection(max_retries=1, interval_start=0)
        except AMQPError as error:  # Celery would log a traceback
            raise BrokerError(f"setting broker_url: {_first_line(error)}") from error


class BeatScheduler(Scheduler):  # type: ignore[misc]  # Celery has no types for it
    """Celery's scheduler without its file, since one beat more or less does not matter.

    It says once, in one line, that the broker is away or that the disk of its folder is full.
    """

    trouble = ""
    """Why the last message could not be sent; empty if it was."""

    def apply_entry(self, entry: ScheduleEntry, producer: object = None) -> None:
        """Send the message of an entry that is due."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            trouble = _first_line(error)
            if trouble != self.trouble:
                log.warning("the beat finds no broker now: %s", trouble)
            self.trouble = trouble
        else:
            self.trouble = ""


def run_beat(settings: Settings) -> None:
    """Run the beat in this process until it is told to stop: it advances all tournaments now and then.

    Raise BrokerError if the broker refuses it, and SettingsError.
    """
    settings.prepare()
    with broker_errors():
        app = make_app(settings)
    log_in(app)
    app.Beat(loglevel="WARNING", quiet=True).run()


def _config(settings: Settings) -> dict[str, object]:
    often = {
        "schedule": settings.beat_seconds,
        "options": {
            "expires": settings.beat_seconds
        },  # a late one is of no use, as the next one is there by then
    }
    return _broker(settings) | {
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_default_queue": "arena",
        "worker_prefetch_multiplier": 1,
        "worker_enable_remote_control": False,
        # Else task threads set RabbitMQ's prefetch count, and read what is for the worker.
        "worker_enable_prefetch_count_reduction": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # It cancels no task, as all are acknowledged at once; without it Celery warns in many lines.
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        "beat_schedule": {
            "advance": {"task": ADVANCE_ALL, **often},
            "deliver": {"task": DELIVER, **often},
            "estimate": {"task": ESTIMATE, **often},
            "weigh": {"task": WEIGH, **often},
        },
        "beat_scheduler": BeatScheduler,
    }


def _broker(settings: Settings) -> dict[str, object]:
    if settings.broker_folder is None:
        return {"broker_url": settings.broker_url}
    return {
        "broker_transport": f"{broker.__name__}:{broker.Transport.__name__}",
        "broker_transport_options": broker.options(settings.broker_folder),
    }
