"""Concurrent actions at the worst moment of a transaction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event


@contextmanager
def once_at(statement: str, act: Callable[[], object]) -> Iterator[None]:
    """Call ``act`` just before the first statement that contains ``statement``."""
    left = [act]

    def look(_connection: object, _cursor: object, text: str, *_: object) -> None:
        if statement in text and left:
            left.pop()()

    event.listen(Engine, "before_cursor_execute", look)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", look)
    assert not left, "the statement was never executed"
