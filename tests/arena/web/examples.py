"""The examples of the OpenAPI document, made from real traffic: ``python -m tests.arena.web.examples``.

Each route in the table of permissions is called by somebody who may use it, in an arena with data of every
kind; requests and answers go into ``arena/web/examples.json``.
"""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arena.host.settings import load_settings
from arena.store.storage import Storage, migrate, migrate_storage, open_storage
from arena.web.app import make_app
from arena.web.routing import EXAMPLES, PREFIX
from tests.arena.everywhere import connect_all, make_everything
from tests.arena.exported import play_by_table
from tests.arena.fakes import Clock
from tests.arena.web.permissions import ROUTES, Caller, Line
from tests.arena.web.test_roles import Arena, routes_of, unlimited
from tests.arena.world import World

MOST = 2
"""Maximum number of objects kept in a list, since more would add nothing."""

SECRET = re.compile(r"\b(bt_[a-z]+_|whsec_)[A-Za-z0-9_+/=-]{12,}")
"""Secrets, which are no longer valid but look as if they were; only their beginnings are kept."""


def shortened(value: Any) -> Any:
    """Return an answer with few objects in each list, and without secrets."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        objects = any(isinstance(one, dict) for one in value)
        return [shortened(one) for one in (value[:MOST] if objects else value)]
    return SECRET.sub(r"\1", value) if isinstance(value, str) else value


def example(arena: Arena, method: str, line: Line) -> dict[str, Any]:
    """Return a request to a route, and the answer."""
    caller = next(one for one in Caller if one in line.who)
    answer = arena.ask(method, line, caller)
    assert answer.is_success, (method, line, answer.text)
    found: dict[str, Any] = {} if line.body is None else {"sent": shortened(line.body)}
    if answer.content and answer.headers["content-type"].startswith("application/json"):
        found["answer"] = shortened(answer.json())
    return found


def same_deal(folder: Path) -> Any:
    """Return the answer about a deal of a duplicate round, from a separate arena, as the other has none."""
    settings = load_settings({"data": folder / "duplicate"}).prepare()
    migrate_storage(settings)
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(8, format="swiss", rounds=1, deals=1, duplicate=True).id, play_by_table)
        path = f"{PREFIX}/tournaments/cup/rounds/1/sessions/1/deals/1"
        return TestClient(make_app(settings, storage)).get(path).json()


def main() -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        with Storage(f"sqlite:///{folder / 'empty.db'}") as storage:
            migrate(storage)
        make_everything(folder, (folder / "empty.db").read_bytes())
        unlimited(patch)
        connect_all(patch)
        arena = Arena(folder)
        made, paths = {}, arena.app.openapi()["paths"]
        for route in routes_of(arena.app):
            method, path = route.split()
            if not path.endswith("/events"):
                operation = paths[PREFIX + path][method.lower()]["operationId"]
                made[operation] = example(arena, method, ROUTES[route])
                arena.restore()
        arena.close()
        made["show_same_deal"] = {"answer": shortened(same_deal(folder))}
    lines = (f"{json.dumps(route)}: {json.dumps(one)}" for route, one in sorted(made.items()))
    EXAMPLES.write_text(("{\n" + ",\n".join(lines) + "\n}\n").replace(name, "/srv"))


if __name__ == "__main__":
    main()
