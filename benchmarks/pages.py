"""How much the server has to do for a page: ``python -m benchmarks.pages``.

Asks the application, without a socket, for every kind of page, in a season that is made for it on SQLite
(``--bots``, ``--matches``; ``benchmarks.seasons``, ``benchmarks.exhibits``) or in the arena of ``--data``,
where nobody is signed in. Prints the processor time of a page, all threads together, in milliseconds (the
median and the most of some requests, after a first one), beside the limit, how much is sent and how much that
is compressed, and in the end which kinds it did not ask for. Answers that would be given again to everybody
are worked out anew: the requests show a cookie.
"""

import argparse
import asyncio
import gzip
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import median

from fastapi import FastAPI
from fastapi.routing import APIRoute

from arena.errors import ArenaError
from arena.leagues.overview import list_leagues
from arena.models import HighlightKind, utc_now
from arena.queries import highlights, leaderboards, matches, tournaments
from arena.queries.matches import MatchLine
from arena.queries.together import same_deal
from arena.settings import load_settings
from arena.storage import Storage, migrate_storage, open_storage
from arena.strength.fitting import fit_due
from arena.tournaments.overview import TournamentStatus
from arena.web.app import make_app
from arena.web.asking import COOKIE
from arena.web.pages.links import (
    bot_url,
    deal_url,
    league_url,
    match_url,
    round_url,
    together_url,
    tournament_url,
    with_query,
)
from arena.web.pages.routers import ROUTERS
from benchmarks.exhibits import exhibit
from benchmarks.history import tidy
from benchmarks.seasons import make_season

LIMIT = 50.0
TIMES = 7
PLAYING = 16
"""Bots that play for real, beside the season."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)
HEADERS = [(b"host", b"arena.test"), (b"accept", b"text/html")]
SEASON = "season"
"""The tournament that was made in bulk, whose deals nobody could have played."""


def addresses(storage: Storage, signed_in: bool) -> Iterator[tuple[str, str]]:
    """Yield each kind of page with the address of one, also for who has signed in."""
    [bot, other, *_] = [
        line.name.partition("@")[0] for line in leaderboards.leaderboard(storage, limit=2).lines
    ]
    found = tournaments.list_tournaments(storage, tournaments.Asked(), 200).tournaments
    largest = max(found, key=lambda one: one.sessions_done)
    line = matches.find_matches(storage, matches.Asked(tournament=largest.name), 1).lines[0]
    yield "board", "/"
    yield "board, around a bot", with_query("/", {"around": bot})
    yield "board, two compared", with_query("/", {"a": bot, "b": other})
    yield "bot", bot_url(bot)
    yield "bot, a version", bot_url(f"{bot}@1")
    yield "versus", with_query(f"{bot_url(bot)}/versus", {"opponent": other})
    yield "tournaments", "/tournaments"
    yield from _of_tournament(largest.name, line)
    yield "matches", "/matches"
    yield "matches of a bot", with_query("/matches", {"bot": bot})
    yield from _of_match(line)
    yield from _of_deals(storage, [one.name for one in found if one.name != SEASON])
    yield from _of_formats(found)
    yield "leagues", "/leagues"
    yield from (("league", league_url(one.name)) for one in list_leagues(storage)[:1])
    yield "rules", "/rules"
    yield "ruleset", "/rules/hong-kong"
    yield "ruleset, two compared", "/rules/hong-kong?other=chinese"
    yield "ruleset, cards put", "/rules/hong-kong?cards=9D9C9H9S3D&against=2S"
    yield "join", "/join"
    yield "sign in", "/sign-in"
    yield "sign up", "/sign-up"
    yield "docs", "/docs"
    yield "board, as CSV", "/leaderboard.csv"
    yield from _pictures(bot, largest.name)
    if signed_in:
        yield from _of_people(bot, largest.name)


def _of_tournament(name: str, line: MatchLine) -> Iterator[tuple[str, str]]:
    at = round_url(name, line.round)
    yield "tournament", tournament_url(name)
    yield "tournament, later places", with_query(tournament_url(name), {"offset": 100})
    yield "crosstable", f"{tournament_url(name)}/crosstable"
    yield "round", at
    yield "round, with reasons", f"{at}?why=true"
    yield "round at a glance", f"{at}/live"
    yield "round, tables alone", f"{at}/live/tables"


def _of_match(line: MatchLine) -> Iterator[tuple[str, str]]:
    place = (line.tournament, line.round, line.table)
    yield "match", match_url(*place)
    yield "match in play", f"{match_url(*place)}/live"


def _of_deals(storage: Storage, tournaments: Sequence[str]) -> Iterator[tuple[str, str]]:
    swings = (highlights.Asked(HighlightKind.SWING, tournament=name) for name in tournaments)
    for one in chain.from_iterable(highlights.find_deals(storage, asked, 1).lines for asked in swings):
        deal = deal_url(one.tournament, one.round, one.table, one.session, one.deal)
        yield "deal", deal
        yield "deal, a step", f"{deal}?step=9&view=1"
        yield "deal, one file", f"{deal}/replay.html"
        yield "deal, picture", f"{deal}/picture.png"
        break
    for name in tournaments:
        with suppress(ArenaError):  # not a duplicate tournament, or nothing of it is to be seen yet
            same_deal(storage, name, 1, 1, 1)
            yield "deal at all tables", together_url(name, 1, 1, 1)
            break


def _of_formats(found: Sequence[TournamentStatus]) -> Iterator[tuple[str, str]]:
    for format in ("knockout", "continuous"):
        named = [one.name for one in found if one.format == format]
        yield from ((f"tournament, {format}", tournament_url(name)) for name in named[:1])


def _pictures(bot: str, tournament: str) -> Iterator[tuple[str, str]]:
    yield "arena, picture", "/picture.png"
    yield "bot, picture", f"{bot_url(bot)}/picture.png"
    yield "tournament, picture", f"{tournament_url(tournament)}/picture.png"


def _of_people(bot: str, tournament: str) -> Iterator[tuple[str, str]]:
    yield "one's own page", "/me"
    yield "a bot's start", f"{bot_url(bot)}/start"
    yield "desk", "/desk"
    yield "desk of a tournament", f"{tournament_url(tournament)}/desk"
    yield "operator", "/operator"
    yield "operator, findings", "/operator/findings"
    yield "operator, audit", "/operator/audit"


async def ask(app: FastAPI, address: str, cookie: str) -> tuple[int, bytes]:
    """Return the status and the body of the answer to a request, not compressed."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [*HEADERS, (b"cookie", f"{COOKIE}={cookie}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("arena.test", 80),
        "state": {},
    }
    status, body = 0, b""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        nonlocal status, body
        if message["type"] == "http.response.start":
            status = int(str(message["status"]))
        else:
            part = message.get("body", b"")
            assert isinstance(part, bytes)
            body += part

    await app(scope, receive, send)  # type: ignore[arg-type]
    return status, body


async def measure(app: FastAPI, pages: Sequence[tuple[str, str]], cookie: str) -> None:
    """Print a line for each page, and the kinds that were not asked for."""
    print(f"{'CPU ms of a page':26} {'median':>7} {'most':>7} {'kB':>7} {'gzip':>6}   limit {LIMIT:g}")
    for name, address in pages:
        status, body = await ask(app, address, cookie)
        if status != 200:
            print(f"{name:26} {address} is answered {status}")
            continue
        taken = []
        for _ in range(TIMES):
            began = time.process_time()
            await ask(app, address, cookie)
            taken.append(1000 * (time.process_time() - began))
        late = "   too slow" if median(taken) > LIMIT else ""
        sizes = f"{len(body) / 1000:7.0f} {len(gzip.compress(body, 5)) / 1000:6.0f}"
        print(f"{name:26} {median(taken):7.1f} {max(taken):7.1f} {sizes}{late}", flush=True)

    asked = {address.partition("?")[0] for _, address in pages}
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    for route in routes:
        if "GET" in (route.methods or ()) and not any(map(route.path_regex.match, asked)):
            print(f"{'not asked for':26} {route.path}")


@contextmanager
def season(bots: int, count: int) -> Iterator[tuple[Path, str]]:
    """Make a season in a folder that goes in the end; yield it with the cookie of who signed in."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings({"data": folder}).prepare()
        migrate_storage(settings)
        with open_storage(settings) as storage:
            began = time.perf_counter()
            make_season(storage, bots, count, NOW)
            names = [f"owner-{number // 2}/bot-{number}" for number in range(PLAYING)]
            cookie = exhibit(storage, names, NOW)
            fit_due(storage, NOW)
        tidy(str(settings.shown()["database_url"]))
        print(f"{bots:,} bots, {count:,} matches, made in {time.perf_counter() - began:.0f} s", flush=True)
        yield Path(folder), cookie


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder of an arena that is there already")
    parser.add_argument("--bots", type=int, default=400, help="of the season that is made (default: 400)")
    parser.add_argument("--matches", type=int, default=4_000, help="of that season (default: 4000)")
    options = parser.parse_args()
    with ExitStack() as stack:
        here = (options.data, "") if options.data else None
        folder, cookie = here or stack.enter_context(season(options.bots, options.matches))
        settings = load_settings({"data": folder})
        storage = stack.enter_context(open_storage(settings))
        app = make_app(settings, storage, clock=(lambda: NOW) if cookie else utc_now)
        asyncio.run(measure(app, [*addresses(storage, bool(cookie))], cookie or "none"))


if __name__ == "__main__":
    main()
