"""The readers of pages in ``benchmarks.web``: a file for locust, which runs it in a process of its own.

Each reader has its own network address, as if behind a proxy that the arena trusts. What they read comes from
a file: kinds of addresses, each with its name, weight and addresses. It prints ``ready`` once all readers are
there, and a line of JSON at the end.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import gevent
from gevent import socket
from locust import User, between, constant, events, task
from locust.contrib.fasthttp import FastHttpUser
from locust.env import Environment

SILENCE_SECONDS = 30
"""A stream that is silent for so many seconds is lost: a ping should have come."""

given = json.loads(Path(os.environ["READ"]).read_text())
addresses = (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}" for number in count(1))
told: Counter[str] = Counter()


class Reader(FastHttpUser):
    """Somebody who opens a page or asks the API every now and then."""

    fixed_count = given["readers"]
    wait_time = between(*given["think"])

    def on_start(self) -> None:
        """Wait for a random time, so that readers do not all start together."""
        self.headers = {"X-Forwarded-For": next(addresses)}
        gevent.sleep(random.uniform(0, sum(given["think"]) / 2))

    @task
    def read(self) -> None:
        """Read something."""
        [one] = random.choices(given["places"], [place["weight"] for place in given["places"]])
        self.client.get(random.choice(one["paths"]), name=one["name"], headers=self.headers)


class Streaming(User):
    """Somebody who has a stream open, and comes back when it ends."""

    abstract = True
    wait_time = constant(0.5)
    name = ""

    def on_start(self) -> None:
        """Wait for a random time, so that readers do not all start together."""
        self.address = next(addresses)
        gevent.sleep(random.uniform(0, 2))

    def path(self) -> str:
        """Return the path of the stream."""
        raise NotImplementedError

    @task
    def follow(self) -> None:
        """Read a stream to its end."""
        began = time.perf_counter()
        stream = self._received(self.path())
        try:
            last = next(stream, b"")
            if not last.startswith(b"HTTP/1.1 200 "):
                raise OSError(last[:30].decode(errors="replace") or "no answer")
            self._note(began)
            for received in stream:
                told[self.name] += received.count(b"event: ")
                last = (last + received)[-200:]
            if b"event: end" not in last:
                raise OSError("the stream broke off")
        except OSError as error:
            self._note(began, error)

    def _note(self, began: float, error: OSError | None = None) -> None:
        """Note how long the stream took to begin, or what was wrong with it."""
        self.environment.events.request.fire(
            request_type="GET",
            name=self.name,
            response_time=1000 * (time.perf_counter() - began),
            response_length=0,
            exception=error,
            context={},
        )

    def _received(self, path: str) -> Iterator[bytes]:
        """Yield what is received, as it arrives."""
        host = urlsplit(self.host or "")
        with socket.create_connection((host.hostname, host.port), SILENCE_SECONDS) as connection:
            lines = (f"GET {path} HTTP/1.1", f"Host: {host.netloc}", f"X-Forwarded-For: {self.address}")
            connection.sendall("\r\n".join((*lines, "Connection: close", "", "")).encode())
            while received := connection.recv(1 << 16):
                yield received


class Follower(Streaming):
    """Somebody who follows the tournament."""

    fixed_count = given["streams"] // 2
    name = "stream of the tournament"

    def path(self) -> str:
        """Return the tournament's stream."""
        return f"/api/v1/tournaments/{given['tournament']}/events"


class Watcher(Streaming):
    """Somebody who looks at a match that is being played."""

    fixed_count = given["streams"] - given["streams"] // 2
    name = "stream of a match"
    round = 1

    def path(self) -> str:
        """Return the stream of a match of the latest round."""
        return (
            f"/matches/{given['tournament']}/{Watcher.round}/{random.randint(1, given['tables'])}/live/events"
        )


class Looker(FastHttpUser):
    """Tells those who watch matches which round is being played."""

    fixed_count = 1
    wait_time = constant(1)

    @task
    def look(self) -> None:
        """Find out which round it is."""
        answer = self.client.get("/api/v1/tournaments?state=running", name="api tournaments")
        Watcher.round = max([1, *(one["round"] for one in answer.json()["tournaments"])])


def ready(user_count: int, **_: object) -> None:
    """Report that all readers are there."""
    told.clear()
    print("ready", flush=True)


def report(environment: Environment, **_: object) -> None:
    """Print what was measured."""
    seen = {
        entry.name: {"times": entry.response_times, "errors": entry.num_failures, "told": told[entry.name]}
        for entry in environment.stats.entries.values()
    }
    wrong = [f"{error.name}: {error.error}" for error in environment.stats.errors.values()]
    print(json.dumps({"seen": seen, "wrong": wrong}), flush=True)


events.spawning_complete.add_listener(ready)
events.quitting.add_listener(report)
