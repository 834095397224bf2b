"""The client that waits for each answer."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, Self, TypeVar

import httpx2

from arena.client.call import PREFIX, Call, address_of, call_of, following, host_of, in_one, require_secret
from arena.client.exchange import (
    Known,
    Lost,
    Pause,
    exchange,
    headers_of,
    prepare,
    proxy_errors,
    require_success,
    unreachable,
)
from arena.client.streams import (
    AGAIN_SECONDS,
    SILENCE_SECONDS,
    Following,
    Happened,
    LineSplitter,
    Looking,
    Stream,
    Told,
    export_of,
)
from arena.operations.operation import Operation
from referee.net.addresses import is_near

P = ParamSpec("P")
T = TypeVar("T")

TIMEOUT_SECONDS = 30.0
PATIENCE_SECONDS = 60.0


class Client:
    """An arena on the network.

    ``key`` is an API key; without one, only public data can be read. Errors of the arena are raised as those
    of ``arena.errors``; Unreachable if it cannot be reached. ``patience`` is the maximum number of seconds
    that a call waits if the arena asks it to, and ``told`` gets a line when it does.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        patience: float = PATIENCE_SECONDS,
        report: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.address = address_of(url)
        if key is not None:
            require_secret(self.address)
        self._patience, self._told, self._sleep = patience, report, sleep
        self._known = Known()
        if transport is None and is_near(host_of(self.address)):
            transport = httpx2.HTTPTransport()  # with one of its own, a client looks for no proxy
        with proxy_errors():
            self._http = httpx2.Client(headers=headers_of(key), timeout=timeout, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the answer of an operation; pages longer than the API's maximum are joined from several."""
        return self.send(call_of(operation, *args, **kwargs))

    def send(self, call: Call[T]) -> T:
        """Return the answer to a call."""
        if not call.lines:
            return self._send(call)
        calls = in_one(call)
        try:
            request = next(calls)
            while True:
                request = calls.send(self._send(request))
        except StopIteration as ended:
            joined: T = ended.value
            return joined

    def pages(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        """Yield the answer of an operation that lists a page, then the following pages."""
        request: Call[T] | None = call_of(operation, *args, **kwargs)
        while request is not None:
            page = self._send(request)
            yield page
            request = following(request, page)

    def export(self, tournament: str, *, deals: bool = False) -> Iterator[str]:
        """Yield the lines of a tournament's export, or of its deal records only.

        Raise Unreachable if the connection is lost before the last line.
        """
        lines = LineSplitter()
        with self._opened(export_of(tournament, deals)) as response:
            for chunk in response.iter_bytes():
                yield from lines.take(chunk)
        lines.end()

    def follow(self, tournament: str, last: int = 0) -> Iterator[Told]:
        """Yield the status of a tournament and its events after number ``last``, as they come, until it ends.

        If the connection is lost, the next one continues where it broke off.
        """
        return self._streamed(Following(tournament, last))

    def watch(self, tournament: str, round: int, table: int) -> Iterator[Happened]:
        """Yield what happens in a match that is being played, as it happens, until the match is over.

        If the connection is lost, the next one begins with the present state of the sessions.
        """
        return self._streamed(Looking(tournament, round, table))

    def _streamed(self, seen: Stream[T]) -> Iterator[T]:
        while not seen.ended:
            try:
                with self._opened(seen.call, timeout=SILENCE_SECONDS, headers=seen.headers) as response:
                    for event in httpx2.EventSource(response):
                        value = seen.take(event)
                        if value is not None:
                            yield value
                seen.lost(None)
            except Lost as error:
                seen.lost(error)
            if not seen.ended:
                self._sleep(AGAIN_SECONDS)

    @contextmanager
    def _opened(self, call: Call[Any], **how: Any) -> Iterator[httpx2.Response]:
        """Send a call, and yield its response to be read in chunks. Raise Lost if the connection is lost."""
        request = self._http.build_request(url=self._url(call), **prepare(call), **how)
        try:
            response = self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    response.read()
                require_success(response)
                yield response
            finally:
                response.close()
        except httpx2.RequestError as error:
            raise Lost(str(unreachable(request, error))) from None

    def _url(self, call: Call[Any]) -> str:
        return f"{self.address}{PREFIX}{call.place}"

    def _send(self, call: Call[T]) -> T:
        request = self._http.build_request(url=self._url(call), **prepare(call))
        steps = exchange(request, call, self._known, self._patience)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._done(step))
        except StopIteration as ended:
            answer: T = ended.value
            return answer

    def _done(self, step: httpx2.Request | Pause) -> httpx2.Response | httpx2.RequestError | None:
        if isinstance(step, Pause):
            if step.why:
                self._told(step.why)
            self._sleep(step.seconds)
            return None
        try:
            return self._http.send(step)
        except httpx2.RequestError as error:
            return error
