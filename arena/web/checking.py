"""Checking ratings for a page: in a thread, since that may take longer than a browser waits."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from arena.errors import ArenaError, StateError
from arena.operations.operation import Context, Operation
from arena.results.ratings.rebuild import Rebuilt


@dataclass(frozen=True, slots=True)
class Checked:
    """A check of the ratings, which may still be running."""

    mends: bool
    """Whether it corrects what is wrong."""
    started_at: datetime
    ended_at: datetime | None = None
    """None while it is running."""
    found: Rebuilt | None = None
    """None if it is running, or was stopped by ``trouble``."""
    trouble: str = ""
    so_far: str = ""
    """How far it is, in words."""


class Checking:
    """The latest check of the ratings that a page started."""

    def __init__(self) -> None:
        self.latest: Checked | None = None
        """None if there was none since this process started."""
        self._lock = threading.Lock()

    def start(
        self,
        operation: Operation[[], Rebuilt],
        context: Context,
        clock: Callable[[], datetime],
        *,
        mends: bool,
    ) -> None:
        """Start a check. Raise StateError if one is running."""
        with self._lock:
            if self.latest is not None and self.latest.ended_at is None:
                raise StateError("the ratings are being checked already")
            begun = self.latest = Checked(mends, context.now)

        def tell(so_far: str) -> None:
            self.latest = replace(begun, so_far=so_far)

        def run() -> None:
            ended = replace(begun, trouble="it was stopped by an error, which is in the log")
            try:
                ended = replace(begun, found=operation(replace(context, tell=tell)))
            except ArenaError as error:
                ended = replace(begun, trouble=str(error))
            finally:
                self.latest = replace(ended, ended_at=clock())

        threading.Thread(target=run, name="check of ratings", daemon=True).start()
