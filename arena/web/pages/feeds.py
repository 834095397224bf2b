"""Feeds with which people follow a bot: its matches, versions and tournaments, in Atom and JSON Feed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree as ET

from fastapi.responses import Response
from pydantic_core import to_json

from arena.queries import matches, profiles
from arena.queries.matches import MatchLine
from arena.queries.tournaments import ended_of
from arena.web.context import Shared, Web
from arena.web.naming import BotName
from arena.web.pages.figures import counted, signed
from arena.web.pages.links import bot_url, match_url, tournament_url
from arena.web.pages.routing import page_router

router = page_router()

ENTRIES = 40
"""Entries of a feed."""
TOURNAMENTS = 3
"""Of how many tournaments that have ended the place is told: a place takes their standings."""

ATOM, JSON_FEED = "application/atom+xml", "application/feed+json"
NAMESPACE = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed."""

    url: str
    """Where there is more; with ``at``, which entry it is."""
    title: str
    text: str
    at: datetime

    @property
    def id(self) -> str:
        """Return what no other entry has, and what stays."""
        return f"{self.url}#{self.at:%Y%m%dT%H%M%S}"


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed."""

    title: str
    page: str
    """The address of the page that it is about."""
    url: str
    """Its own address, without its ending."""
    since: datetime
    """When what it is about came into being."""
    entries: Sequence[Entry]
    """The newest first."""


def feed_of(web: Web, bot: str) -> Feed:
    """Return the feed of ``owner/bot``. Raise UnknownError."""
    origin = web.settings.web_url
    page = origin + bot_url(bot)
    versions = profiles.version_lines(web.storage, bot)
    played = matches.find_matches(web.storage, matches.MatchQuery(bot=bot, tests=False), ENTRIES).matches
    entries = [
        *(_match(origin, line, bot) for line in played),
        *_versions(page, versions),
        *_ended(web, origin, bot),
    ]
    newest = sorted(entries, key=lambda entry: (entry.at, entry.url), reverse=True)[:ENTRIES]
    return Feed(bot, page, f"{page}/feed", versions[-1].created_at, newest)


def is_of(name: str, bot: str) -> bool:
    """Return whether a version belongs to a bot."""
    return name.partition("@")[0] == bot


def _match(origin: str, line: MatchLine, bot: str) -> Entry:
    own = next(at for at, name in enumerate(line.bots) if is_of(name, bot))
    points = ", ".join(
        f"{name} {signed(points)}" for name, points in zip(line.bots, line.points, strict=True)
    )
    parts = [f"{counted(line.deals, 'deal')} under {line.ruleset}: {points}"]
    if line.changes is not None:
        parts.append(f"Elo {signed(line.changes[own], 1)}")
    if line.faults[own]:
        parts.append(counted(line.faults[own], "fault"))
    if line.forfeits[own]:
        parts.append(counted(line.forfeits[own], "forfeit"))
    where = f"{line.tournament}, round {line.round}, table {line.table}"
    url = origin + match_url(line.tournament, line.round, line.table)
    return Entry(
        url, f"{signed(line.points[own])} points in {where}", f"{'; '.join(parts)}.", line.finished_at
    )


def _versions(page: str, versions: Sequence[profiles.VersionLine]) -> Iterator[Entry]:
    for line in versions:
        number = line.bot.partition("@")[2]
        url = f"{page}?version={number}"
        written = f"Written in {line.language}." if line.language else "It can enter tournaments now."
        yield Entry(url, f"Version {number} was registered", written, line.created_at)
        if line.revoked_at is not None:
            yield Entry(
                url, f"Version {number} was retired", "Its token is no longer valid.", line.revoked_at
            )


def _ended(web: Web, origin: str, bot: str) -> Iterator[Entry]:
    """Yield its places in the tournaments that ended last."""
    for status in ended_of(web.storage, bot, TOURNAMENTS):
        assert status.finished_at is not None
        board = web.readings.standings(status)
        places = [line.rank for line in board.standings if is_of(line.bot, bot)]
        place = f"Place {min(places)} of {status.entrants}" if places else "No place"
        was = f"{status.format} under {status.ruleset}, {status.state.value}"
        was += ", not confirmed yet" if board.provisional else ""
        url = origin + tournament_url(status.tournament)
        yield Entry(url, f"{place} in {status.tournament}", f"{was}.", status.finished_at)


def as_atom(feed: Feed) -> bytes:
    """Return a feed in Atom (RFC 4287)."""
    root = ET.Element("feed", xmlns=NAMESPACE)

    def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
        made = ET.SubElement(parent, tag, attributes)
        made.text = text or None
        return made

    add(root, "id", f"{feed.url}.atom")
    add(root, "title", feed.title)
    add(root, "updated", _time(feed.entries[0].at if feed.entries else feed.since))
    add(root, "link", rel="alternate", type="text/html", href=feed.page)
    add(root, "link", rel="self", type=ATOM, href=f"{feed.url}.atom")
    add(add(root, "author"), "name", feed.title)
    for item in feed.entries:
        entry = add(root, "entry")
        add(entry, "id", item.id)
        add(entry, "title", item.title)
        add(entry, "updated", _time(item.at))
        add(entry, "link", rel="alternate", type="text/html", href=item.url)
        add(entry, "summary", item.text)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def as_json(feed: Feed) -> bytes:
    """Return a feed in JSON Feed 1.1."""
    return to_json(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": feed.title,
            "home_page_url": feed.page,
            "feed_url": f"{feed.url}.json",
            "items": [
                {
                    "id": entry.id,
                    "url": entry.url,
                    "title": entry.title,
                    "content_text": entry.text,
                    "date_published": _time(entry.at),
                }
                for entry in feed.entries
            ],
        }
    )


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


@router.get("/bots/{owner}/{bot}/feed.atom")
def follow_in_atom(web: Shared, name: BotName) -> Response:
    """Return the feed of a bot in Atom."""
    return Response(as_atom(feed_of(web, name)), media_type=ATOM)


@router.get("/bots/{owner}/{bot}/feed.json")
def follow_in_json(web: Shared, name: BotName) -> Response:
    """Return the feed of a bot in JSON."""
    return Response(as_json(feed_of(web, name)), media_type=JSON_FEED)
