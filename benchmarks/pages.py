"""How much work a page is for the server: ``python -m benchmarks.pages``.

Asks the application, without a socket, for every kind of page and for the JSON that pages link to: in a
season that is made for it on SQLite (``--bots``, ``--matches``), in a history of a million matches
(``--copies 100``; ``benchmarks.multiples``), each with what ``benchmarks.exhibits`` adds, or in the arena of
``--data``, where nobody is signed in unless ``--exhibit`` adds that first. Prints the processor time of a
page, all threads together, in milliseconds (of the first request, then the 50th and the 99th percentile of
the others) with the limit, the size of the answer, plain and compressed, and at the end which kinds of page
it did not ask for. Answers that would be reused for everybody are recomputed, because requests have a cookie.
"""

import argparse
import asyncio
import gzip
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from statistics import quantiles

from fastapi import FastAPI
from fastapi.routing import APIRoute

from arena.errors import ArenaError
from arena.host.settings import load_settings
from arena.leagues.overview import list_leagues
from arena.queries import highlights, leaderboards, matches, tournaments
from arena.queries.board import LeaderboardLine
from arena.queries.deals import one_deal, same_deal
from arena.queries.names import NamedPool, list_pools
from arena.queries.replays.make import make_replay
from arena.results.strength.fitting import fit_due
from arena.store.models import HighlightKind, utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments.overview import TournamentStatus
from arena.web.app import make_app
from arena.web.asking import COOKIE
from arena.web.pages.figures import day
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
from arena.web.serving import collect_seldom
from benchmarks.exhibits import exhibit
from benchmarks.grown import BOTS, ROUNDS
from benchmarks.history import tidy
from benchmarks.multiples import STEP, Base, Copier, make_base
from benchmarks.seasons import make_season
from referee.errors import RefereeError

TOO_MANY = 429
"""The status of the answer to one request too many."""
LIMIT = 50.0
TIMES = 20
PLAYING = 16
"""Number of bots that play real deals, in addition to a season made in bulk."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)
HEADERS = [(b"host", b"arena.test"), (b"accept", b"text/html")]


def addresses(storage: Storage, signed_in: bool) -> Iterator[tuple[str, str]]:
    """Yield each kind of page with the address of an example, including those for the signed-in."""
    pool = max(list_pools(storage), key=lambda one: one.matches)
    asked = leaderboards.LeaderboardQuery(ruleset=pool.hash, table_size=pool.table_size)
    board = leaderboards.leaderboard(storage, asked, 50)
    ranked = [bot_of(line) for line in board.leaderboard]
    busy = bot_of(max(leaderboards.leaderboard(storage).leaderboard, key=lambda line: line.matches))
    found = [*_tournaments(storage)]
    largest = max(found, key=lambda one: (one.entrants, one.sessions_done))
    yield from _of_board(pool, ranked, board.next, latest(storage))
    yield from _of_bot("a bot that plays most", busy, ranked[0])
    yield from _of_bot("a bot", ranked[0], ranked[1])
    yield "what is on now", "/now"
    yield "names", "/search?q=b"
    yield "names, JSON", "/api/v1/search?q=b"
    yield "tournaments", "/tournaments"
    yield from of_tournament(storage, largest)
    yield "matches", "/matches"
    yield "matches of a bot", with_query("/matches", {"bot": busy})
    yield "matches of a bot with faults", with_query("/matches", {"bot": busy, "faults": "true"})
    yield from _of_deals(storage, [one.tournament for one in found])
    yield from _of_formats(found)
    yield from _of_leagues(storage, signed_in)
    yield from RULES
    yield from FOR_NEWCOMERS
    if signed_in:
        yield from _of_people(busy, largest.tournament)


def _tournaments(storage: Storage) -> Iterator[TournamentStatus]:
    """Yield all tournaments, the newest first."""
    cursor = None
    while True:
        page = tournaments.list_tournaments(storage, None, 200, cursor)
        yield from page.tournaments
        if (cursor := page.next) is None:
            return


def bot_of(line: LeaderboardLine) -> str:
    """Return the name of the bot to whose version a line belongs."""
    return line.bot.partition("@")[0]


def _of_board(
    pool: NamedPool, ranked: Sequence[str], cursor: str | None, newest: datetime
) -> Iterator[tuple[str, str]]:
    yield "front page", "/"
    yield "board", "/board"
    yield "board, next page", with_query("/board", {"cursor": cursor})
    yield "board, around a bot", with_query("/board", {"around": ranked[-1]})
    yield "board, two compared", with_query("/board", {"a": ranked[0], "b": ranked[1]})
    yield "board, of an owner", with_query("/board", {"owner": ranked[0].partition("/")[0]})
    yield "board, of a language", with_query("/board", {"language": "rust"})
    yield "board, not provisional", with_query("/board", {"provisional": "false"})
    yield "board, active lately", with_query("/board", {"active_since": day(newest - timedelta(days=1))})
    yield "board, changes", with_query("/board", {"since": day(newest - timedelta(days=30))})
    yield "board, as CSV", "/leaderboard.csv"
    yield "board, as JSON", with_query("/api/v1/leaderboard", {"ruleset": pool.hash, "limit": 50})


def _of_bot(what: str, bot: str, other: str) -> Iterator[tuple[str, str]]:
    yield what, bot_url(bot)
    yield f"{what}, a version", bot_url(f"{bot}@1")
    yield f"{what}, head to head", with_query(f"{bot_url(bot)}/versus", {"opponent": other})
    yield f"{what}, as JSON", f"/api/v1{bot_url(bot)}"
    yield f"{what}, as a feed", f"{bot_url(bot)}/feed.atom"
    yield f"{what}, as a feed in JSON", f"{bot_url(bot)}/feed.json"


def of_tournament(storage: Storage, one: TournamentStatus) -> Iterator[tuple[str, str]]:
    """Yield the kinds of page of a tournament, with the addresses of its latest round and match."""
    line = matches.find_matches(storage, matches.MatchQuery(tournament=one.tournament), 1).matches[0]
    name, at = one.tournament, round_url(one.tournament, line.round)
    place = (line.tournament, line.round, line.table)
    yield "tournament", tournament_url(name)
    yield "tournament, last places", with_query(tournament_url(name), {"offset": one.entrants - 1})
    yield "tournament, around a bot", with_query(tournament_url(name), {"around": line.bots[0]})
    yield "crosstable", f"{tournament_url(name)}/crosstable"
    yield "crosstable, as JSON", f"/api/v1{tournament_url(name)}/crosstable"
    yield "round", at
    yield "round, with reasons", f"{at}?why=true"
    yield "round at a glance", f"{at}/live"
    yield "round, tables alone", f"{at}/live/tables"
    yield "match", match_url(*place)
    yield "match in play", f"{match_url(*place)}/live"
    yield "match, as JSON", f"/api/v1{match_url(*place)}"


def _of_deals(storage: Storage, tournaments: Sequence[str]) -> Iterator[tuple[str, str]]:
    swings = (highlights.HighlightQuery(HighlightKind.SWING, tournament=name) for name in tournaments)
    for one in chain.from_iterable(highlights.find_deals(storage, asked, 1).deals for asked in swings):
        place = (one.tournament, one.round, one.table, one.session, one.deal)
        with suppress(ArenaError, RefereeError):  # made in bulk: could not have been played
            make_replay(one_deal(storage, *place))
            yield "deal", deal_url(*place)
            yield "deal, a step", f"{deal_url(*place)}?step=9&view=1"
            yield "deal, one file", f"{deal_url(*place)}/replay.html"
            break
    for name in tournaments:
        with suppress(ArenaError):  # not duplicate, or nothing of it may be seen yet
            same_deal(storage, name, 1, 1, 1)
            yield "deal at all tables", together_url(name, 1, 1, 1)
            break
    yield "deals worth seeing", "/deals"
    yield "deals worth seeing, a kind", "/deals?kind=closest"
    yield "deals worth seeing, JSON", "/api/v1/deals?kind=swing"


def _of_formats(found: Sequence[TournamentStatus]) -> Iterator[tuple[str, str]]:
    for format in ("knockout", "continuous"):
        named = [one.tournament for one in found if one.format == format]
        yield from ((f"tournament, {format}", tournament_url(name)) for name in named[:1])


def _of_leagues(storage: Storage, signed_in: bool) -> Iterator[tuple[str, str]]:
    yield "leagues", "/leagues"
    for one in list_leagues(storage)[:1]:
        yield "league", league_url(one.league)
        yield "league, as JSON", f"/api/v1{league_url(one.league)}"
        if signed_in:
            yield "league, its desk", f"{league_url(one.league)}/desk"
            yield "league, a change", f"{league_url(one.league)}/desk/change"


RULES = (
    ("rules", "/rules"),
    ("ruleset", "/rules/hong-kong"),
    ("ruleset, two compared", "/rules/hong-kong?other=chinese"),
    ("ruleset, cards put", "/rules/hong-kong?cards=9D9C9H9S3D&against=2S"),
)
FOR_NEWCOMERS = (
    *(("join", "/join"), ("sign in", "/sign-in"), ("sign up", "/sign-up"), ("docs", "/docs")),
    *(("guide", "/guide"), ("guide, a document", "/guide/json"), ("proto files", "/proto")),
)


def _of_people(bot: str, tournament: str) -> Iterator[tuple[str, str]]:
    yield "one's own page", "/me"
    yield "several bots' start", "/join/together"
    yield "a bot's start", f"{bot_url(bot)}/start"
    yield "a bot of one's own", f"{bot_url(bot)}/manage"
    yield "a version of one's own", f"{bot_url(bot)}/versions/1"
    yield "log of a bot of one's own", f"{bot_url(bot)}/log"
    yield "deals of a bot of one's own", f"{bot_url(bot)}/deals"
    yield "webhooks", "/webhooks"
    yield "desk", "/desk"
    yield "desk of a league", "/desk/league"
    yield "desk of a tournament", f"{tournament_url(tournament)}/desk"
    yield "desk of a tournament, corrections", f"{tournament_url(tournament)}/desk/corrections"
    yield "operator", "/operator"
    for page in ("findings", "audit", "accounts", "accounts/reader", "tokens", "ratings", "data"):
        yield f"operator, {page}", f"/operator/{page}"


async def ask(app: FastAPI, address: str, cookie: str) -> tuple[int, bytes]:
    """Return the status and the uncompressed body of the answer to a request."""
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


async def measure(app: FastAPI, pages: Sequence[tuple[str, str]], cookie: str, times: int) -> None:
    """Print a line for each page, and the kinds of page that were not asked for."""
    print(
        f"{'CPU ms of a page':34} {'first':>8} {'50 %':>7} {'99 %':>7} {'kB':>7} {'gzip':>6}  limit {LIMIT:g}"
    )
    for name, address in pages:
        status, body, first = await taken(app, address, cookie)
        if status != 200:
            print(f"{name:34} {address} is answered {status}")
            continue
        cuts = quantiles(
            [(await taken(app, address, cookie))[2] for _ in range(times)], n=100, method="inclusive"
        )
        late = "   too slow" if cuts[49] > LIMIT else ""
        sizes = f"{len(body) / 1000:7.0f} {len(gzip.compress(body, 5)) / 1000:6.0f}"
        print(f"{name:34} {first:8.1f} {cuts[49]:7.1f} {cuts[98]:7.1f} {sizes}{late}", flush=True)

    asked = {address.partition("?")[0] for _, address in pages}
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    for route in routes:
        if "GET" in (route.methods or ()) and not any(map(route.path_regex.match, asked)):
            print(f"{'not asked for':34} {route.path}")


async def taken(app: FastAPI, address: str, cookie: str) -> tuple[int, bytes, float]:
    """Return the status and the body of an answer, and the processor time that it took in milliseconds.

    After too many requests in a minute, wait as everybody has to.
    """
    while True:
        began = time.process_time()
        status, body = await ask(app, address, cookie)
        if status != TOO_MANY:
            return status, body, 1000 * (time.process_time() - began)
        await asyncio.sleep(1)


@contextmanager
def season(bots: int, count: int, copies: int) -> Iterator[tuple[Path, str, datetime]]:
    """Make a season in a temporary folder; yield it, the cookie of who is signed in, and the present time."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings({"data": folder}).prepare()
        migrate_storage(settings)
        url = str(settings.shown()["database_url"])
        now = NOW + copies * STEP
        with open_storage(settings) as storage:
            began = time.perf_counter()
            if copies:
                multiply(storage, url, make_base(storage, BOTS, ROUNDS, NOW), copies)
            else:
                make_season(storage, bots, count, NOW)
            cookie = exhibit(storage, players(storage), now)
            fit_due(storage, now)
        tidy(url)
        print(f"made in {time.perf_counter() - began:.0f} s", flush=True)
        yield Path(folder), cookie, now


def multiply(storage: Storage, url: str, base: Base, copies: int) -> None:
    """Copy a base until there are this many of it."""
    copier = Copier(url, base)
    copier.multiply(copies)
    copier.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--data", type=Path, help="data folder of an arena that is there already")
    parser.add_argument(
        "--exhibit", action="store_true", help="add to it what pages show: only to an arena to throw away"
    )
    parser.add_argument("--bots", type=int, default=400, help="of the season that is made (default: 400)")
    parser.add_argument("--matches", type=int, default=4_000, help="of that season (default: 4000)")
    parser.add_argument(
        "--copies", type=int, default=0, help="instead, so many times 12,500 matches of 10,000 bots"
    )
    parser.add_argument("--times", type=int, default=TIMES, help=f"a page is asked for (default: {TIMES})")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.data:
            folder, cookie, now = options.data, "", None
        else:
            made = season(options.bots, options.matches, options.copies)
            folder, cookie, now = stack.enter_context(made)
        settings = load_settings({"data": folder})
        storage = stack.enter_context(open_storage(settings))
        if options.data and options.exhibit:
            now = latest(storage)
            cookie = exhibit(storage, players(storage), now)
        app = make_app(settings, storage, clock=(lambda: now) if now else utc_now)
        collect_seldom()
        app.state.web.readings.prepare()
        asyncio.run(measure(app, [*addresses(storage, bool(cookie))], cookie or "none", options.times))


def players(storage: Storage) -> list[str]:
    """Return the names of the bots that play real deals."""
    return [*dict.fromkeys(map(bot_of, leaderboards.leaderboard(storage).leaderboard))][:PLAYING]


def latest(storage: Storage) -> datetime:
    """Return when the newest match finished."""
    [newest] = matches.find_matches(storage, matches.MatchQuery(), 1).matches
    return newest.finished_at


if __name__ == "__main__":
    main()
