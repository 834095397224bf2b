"""Exports over the API: the same bytes as on the command line, sent as they are made."""

from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.store.storage import Storage
from arena.trust.exports.write import export_lines, export_records
from arena.web.callers import Slots
from arena.web.routes import exports
from tests.arena.world import World


def test_export_when_it_is_read_then_it_has_the_bytes_of_the_command_line(
    pool: World, anybody: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "CHUNK", 5000)
    for query, lines in [("", export_lines), ("?deals=true", export_records)]:
        with anybody.stream("GET", f"/tournaments/cup/export{query}") as answer:
            chunks = list(answer.iter_raw())
        assert answer.headers["content-type"] == exports.NDJSON
        assert b"".join(chunks).decode() == "".join(line + "\n" for line in lines(pool.storage, "cup"))
        assert "etag" not in answer.headers


def test_export_when_as_many_are_read_as_may_be_then_another_has_to_wait(
    anybody: TestClient, app: FastAPI, world: World
) -> None:
    world.tournament()
    app.state.web = replace(app.state.web, exports=Slots("exports", 1, 1))
    for _ in range(3):  # a slot is free again once an answer has been sent
        assert anybody.get("/tournaments/cup/export").status_code == 200
        assert anybody.get("/tournaments/none/export").status_code == 404
    with app.state.web.exports.held("testclient"):
        refused = anybody.get("/tournaments/cup/export")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert refused.json()["detail"] == "you have 1 exports open already"


def test_export_when_nobody_reads_on_then_its_transaction_is_closed(storage: Storage, world: World) -> None:
    world.finish(world.tournament().id)
    lines = export_lines(storage, "cup")
    chunks = exports.chunks(lines, 100)
    next(chunks)
    chunks.close()
    assert list(lines) == []
