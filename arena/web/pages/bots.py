"""The pages of bots: results, opponents, notable deals; two bots head to head; the badge of a check."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import HTMLResponse, Response

from arena.actors import Actor, Role
from arena.bots.checks import CheckReport, CheckSummary
from arena.queries import histories, matches
from arena.queries.board import LeaderboardLine
from arena.queries.ownbots import LogLine, log_for
from arena.queries.profiles import Profile, newest_check, profile
from arena.queries.versus import versus
from arena.store.storage import Storage
from arena.web.context import Shared
from arena.web.naming import BotOrVersion
from arena.web.pages.figures import counted, number
from arena.web.pages.forms import FromForm
from arena.web.pages.links import match_url
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.pages.timelines import TimeLine, same_span, timeline
from referee.matches.journal import EntryKind, LogQuery
from referee.reading.names import is_number

LABEL = "Big Two check"
LABEL_COLOUR = "#454c52"
GREEN, RED, GREY = "#17693f", "#b3261e", "#6b7278"
SIZE, HEIGHT, MARGIN = 11, 20, 7
"""Of letters, of the whole, and at both sides of a text, in pixels."""
NARROW, LETTER = 3.5, 6.5
"""About how wide narrow and other letters are, in pixels; browsers fit the text to the width stated."""


def check_badge(check: CheckSummary | None) -> str:
    """Return the badge of a check as SVG; None for a version that was never checked."""
    if check is None:
        return badge(LABEL, "not checked", GREY)
    counts = check.counts
    if counts.failed:
        return badge(LABEL, f"author reports {counts.failed} failed", RED)
    if not check.passed:
        return badge(LABEL, "author reports it unfinished", GREY)
    return badge(LABEL, f"author reports {counts.passed + counts.warned} of {counts.run}", GREEN)


@lru_cache(200)
def badge(label: str, text: str, colour: str) -> str:
    """Return a badge as SVG: a label, and beside it a text on a colour."""
    left, right = text_width(label), text_width(text)
    middle, width = left + 2 * MARGIN, left + right + 4 * MARGIN
    spoken = escape(f"{label}: {text}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" role="img"'
        f' aria-label="{spoken}">'
        f"<title>{spoken}</title>"
        f'<rect width="{width}" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        f'<path d="M3 0H{middle}V{HEIGHT}H3A3 3 0 0 1 0 {HEIGHT - 3}V3A3 3 0 0 1 3 0" fill="{LABEL_COLOUR}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{SIZE}">'
        f'<text x="{MARGIN}" y="14" textLength="{left}">{escape(label)}</text>'
        f'<text x="{middle + MARGIN}" y="14" textLength="{right}">{escape(text)}</text>'
        "</g></svg>"
    )


def text_width(text: str) -> int:
    """Return how wide a text is about, in pixels."""
    return round(sum(NARROW if letter in "fijlrt.,:' " else LETTER for letter in text))


SHOWN = 20

PLACES = ("deal", "attempt", "action", "seat", "sequence")
"""What says where it was, in this order."""

CARDS = {
    "hand": ("Hand", "nothing"),
    "to_beat": ("To beat", "nothing"),
    "answered": ("Answered", "nothing"),
    "default": ("Played instead", "pass"),
}
"""What the cards are called that a fault tells of, and what is said where there are none."""

VARIES = re.compile(r"\S*\d\S*|\b(?:[TJQKA][DCHS]|[BR]J)\b|\s")
"""What differs between faults of the same kind: numbers and cards."""

TOLD = frozenset([*PLACES, *CARDS, "turn", "void", "elapsed_ms", "credit_ms", "faults", "fault_limit"])


@dataclass(frozen=True, slots=True)
class FaultShown:
    """A fault, for its author."""

    line: LogLine
    position: Sequence[tuple[str, str]]
    """What is known of it, with the names for readers."""
    match: str | None
    """Where its match is; None if it was in none."""


def own_faults(
    storage: Storage, actor: Actor, owner: str, name: str
) -> Sequence[Sequence[FaultShown]] | None:
    """Return the latest faults of a bot with their positions; None if they are not for this reader.

    Those that differ only in cards and numbers are together.
    """
    if actor.role is not Role.OPERATOR and owner not in actor.owners:
        return None
    lines = log_for(storage, actor, LogQuery(name, kinds=(EntryKind.FAULT,), limit=SHOWN)).log
    alike: dict[tuple[str, str], list[FaultShown]] = {}
    for line in lines:
        fault = FaultShown(line, [*position(line.details)], match_of(line.session_id))
        alike.setdefault((line.code, VARIES.sub("", line.text)), []).append(fault)
    return [*alike.values()]


def position(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the details of a fault tell; what only a newer referee tells comes last, as it is."""
    where = [f"{name} {details[name]}" for name in PLACES if name in details]
    if where:
        yield "Where", ", ".join(where)
    if details.get("turn", "play") != "play":
        yield "Turn", str(details["turn"])
    for name, (word, nothing) in CARDS.items():
        if name in details:
            cards = str(details[name])
            yield word, nothing if cards in ("", "-") else cards
    if "elapsed_ms" in details:
        credit = details.get("credit_ms")
        yield "Time taken", f"{details['elapsed_ms']} ms{f' (network credit {credit} ms)' if credit else ''}"
    if "faults" in details:
        yield "Faults", f"{details['faults']} of {details.get('fault_limit', '?')} in this session"
    if details.get("void"):
        yield "Counts", "no: the arena broke off this attempt"
    yield from ((name, str(value)) for name, value in details.items() if name not in TOLD)


def match_of(session_id: str) -> str | None:
    """Return where the match of ``tournament/round/table/session`` is; None if it is of no such form."""
    match session_id.split("/"):
        case [tournament, round, table, _] if is_number(round) and is_number(table):
            return match_url(tournament, int(round), int(table))
    return None


router = page_router()

OPPONENTS = 15
FITS, CHANGES = 100, 150
"""How many of the latest changes of strength and of Elo are drawn."""
TABLED = 40
"""How many of these are in the table."""
FAULTY = 50
"""How many of the latest matches with faults are marked."""


class BotAsked(FromForm):
    """The query parameters that choose the pool of the time line."""

    ruleset: str | None = None
    table_size: Annotated[int | None, Query(ge=2, le=8)] = None


@dataclass(frozen=True, slots=True)
class Course:
    """The history of a bot in a pool."""

    ruleset: str
    drawn: TimeLine | None
    lines: Sequence[histories.HistoryLine]
    """The changes, the latest first."""


@router.get("/bots/{owner}/{bot}")
def show_bot(
    page: Page, web: Shared, name: BotOrVersion, query: Annotated[BotAsked, Query()]
) -> HTMLResponse:
    """Show a bot, all its versions together or one of them."""
    bot = profile(web.storage, name, OPPONENTS)
    pools = list(dict.fromkeys((line.ruleset, line.table_size) for line in bot.pools))
    ruleset = query.ruleset or (pools[0][0] if pools else None)
    return page(
        "bot.html",
        bot=bot,
        name=name,
        pools=pools,
        latest=latest_lines(bot),
        course=None if ruleset is None else course(web.storage, bot, name, ruleset, query.table_size),
        telling=web.readings.deals_of_bot(name, bot.matches),
        faults=own_faults(web.storage, page.actor, bot.owner, name),
        abilities=abilities,
        speed=speed,
        own=f"{next(iter(sorted(page.actor.owners)), 'you')}/BOT",
    )


@router.get("/bots/{owner}/{bot}/versus")
def show_versus(
    page: Page,
    web: Shared,
    name: BotOrVersion,
    opponent: Annotated[str, Query(max_length=200)],
) -> HTMLResponse:
    """Show two bots head to head."""
    return page("versus.html", met=versus(web.storage, name, opponent, OPPONENTS))


TURN_KINDS = "TURN_KIND_"
CARDS_OF = "CARD_"
ASKED_FOR = {"legal_plays": "legal plays", "hands": "hands and numbers of cards"}


def abilities(check: CheckSummary | CheckReport) -> str:
    """Return in words what a bot's hello said in its check: what it can play, and what it asks for."""
    bounds, limits = check.capabilities, []
    if bounds.max_seats is not None:
        limits.append(f"at most {counted(bounds.max_seats, 'seat')}")
    if bounds.max_packs is not None:
        limits.append(f"at most {counted(bounds.max_packs, 'pack')} of cards")
    if bounds.max_card is not None:
        limits.append(f"cards up to {bounds.max_card.removeprefix(CARDS_OF)}")
    if bounds.turn_kinds:
        kinds = (kind.removeprefix(TURN_KINDS).replace("_", " ").lower() for kind in bounds.turn_kinds)
        limits.append(f"turns of the kinds {', '.join(kinds)}")
    if check.max_sessions is not None:
        limits.append(f"{counted(check.max_sessions, 'session')} at once")
    asks = " and ".join(ASKED_FOR.get(want, want) for want in check.wants)
    return f"It plays {', '.join(limits) or 'everything'}{f'; it asks for {asks}' if asks else ''}."


def speed(check: CheckSummary | CheckReport) -> str:
    """Return in words how fast a bot answered in its check; empty if it answered nothing."""
    figures = check.figures
    if figures.median_ms is None or figures.slowest_ms is None:
        return ""
    median, slowest = number(figures.median_ms), number(figures.slowest_ms)
    took = f"answered in {median} ms (median), the slowest in {slowest} ms"
    return f"{counted(figures.turns, 'turn')} {took}; the check took {number(figures.seconds)} s."


def latest_lines(bot: Profile) -> list[LeaderboardLine]:
    """Return the newest rated version's line in each pool."""
    lines: dict[tuple[str, int], LeaderboardLine] = {}
    for line in bot.pools:
        lines.setdefault((line.ruleset, line.table_size), line)
    return [*lines.values()]


def course(storage: Storage, bot: Profile, name: str, ruleset: str, size: int | None) -> Course:
    """Return the history of a bot in a pool. Raise UnknownError."""
    kinds = {histories.HistoryKind.STRENGTH: FITS, histories.HistoryKind.ELO: CHANGES}
    lines = histories.latest(storage, histories.HistoryQuery(name, ruleset, size), kinds)
    cut = [kind for kind, most in kinds.items() if sum(line.kind is kind for line in lines) == most]
    query = matches.MatchQuery(bot=name, ruleset=ruleset, faults=True)
    faulty = matches.find_places(storage, query, FAULTY) if bot.faults else ()
    return Course(ruleset, timeline(same_span(lines, cut), bot.versions, faulty), lines[:TABLED])


@router.get("/bots/{owner}/{bot}/check.svg")
def badge_of_check(web: Shared, name: BotOrVersion) -> Response:
    """Return a badge that says how the check of a bot's newest version went, or of one version."""
    badge = check_badge(newest_check(web.storage, name))
    return Response(badge, media_type="image/svg+xml", headers={"Cache-Control": "public, max-age=300"})
