"""Exports over the API: the same bytes as on the command line, sent as they are made."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from arena.actors import Role
from arena.errors import StorageError
from arena.host.settings import Settings
from arena.running.backups import open_backup
from arena.store.models import utc_now
from arena.store.storage import Storage
from arena.trust.exports.write import export_lines, export_records
from arena.web.callers import Slots
from arena.web.routes import backups, exports
from arena.web.routing import PREFIX
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import Ask
from tests.arena.web.served import served, url_of
from tests.arena.world import World
from tests.waiting import wait_for


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
        both = [anybody.get(path) for path in ("/tournaments/cup/export", "/leaderboard/export")]
    for refused in both:
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
        assert refused.json()["detail"] == "you have 1 exports open already"
    assert anybody.get("/leaderboard/export").json()["detail"] == "no ratings yet"


def test_export_when_nobody_reads_on_then_its_transaction_is_closed(storage: Storage, world: World) -> None:
    world.finish(world.tournament().id)
    lines = export_lines(storage, "cup")
    chunks = exports.chunks(lines, 100)
    next(chunks)
    chunks.close()
    assert list(lines) == []


def test_backup_when_it_cannot_be_noted_then_its_file_is_closed(
    storage: Storage, migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageError("the disk is full")

    def open_files() -> list[str]:
        return [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]

    monkeypatch.setattr("arena.running.backups.record", refuse)
    with pytest.raises(StorageError) as raised:
        open_backup(storage, migrated, ROOT, utc_now())
    assert [one for one in open_files() if "download" in one] == []
    assert raised.traceback  # which would keep the file open


LARGE = 16 << 20
"""More bytes than a connection holds that nobody reads from."""


def test_download_when_it_is_aborted_then_its_file_or_transaction_is_closed_at_once(
    app: FastAPI, storage: Storage, client_of: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[BinaryIO] = []
    ended: list[str] = []

    def opening(*given: object) -> BinaryIO:
        opened.append(open_backup(*given))  # type: ignore[arg-type]
        return opened[-1]

    def endless(_: Storage, tournament: str) -> Iterator[str]:
        try:
            while True:
                yield "x" * exports.CHUNK
        finally:
            ended.append(tournament)

    monkeypatch.setattr(backups, "open_backup", opening)
    monkeypatch.setattr(exports, "export_lines", endless)
    with storage.write() as tx:
        tx.connection().execute(text("CREATE TABLE large AS SELECT zeroblob(:size)"), {"size": LARGE})
    headers = client_of("root", Role.OPERATOR).headers
    with served(app) as server:
        for path in ("/operator/backup", "/tournaments/cup/export"):
            with httpx2.stream("GET", f"{url_of(server)}{PREFIX}{path}", headers=headers) as answer:
                next(answer.iter_raw())
        wait_for(lambda: opened[0].closed and ended)
        assert (len(opened), ended) == (1, ["cup"])
