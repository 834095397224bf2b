"""The addresses of pages, for templates and for everything that links to them."""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, urlencode

from markupsafe import Markup

from arena.web.wheel import LIGHT, VERIFY, WHOLE, wheel_file
from referee.reading.plain import plain

__all__ = [
    "bot_link",
    "bot_url",
    "deal_url",
    "desk_url",
    "install_command",
    "league_url",
    "manage_url",
    "match_url",
    "round_url",
    "ruleset_url",
    "sign_up_url",
    "start_url",
    "together_url",
    "tournament_url",
    "version_url",
    "wheel_url",
    "with_query",
]


MOST_LINKS = 20_000
"""How many links to bots are cached."""


def _path(*parts: object) -> str:
    return "".join(f"/{quote(str(part), safe='@')}" for part in parts)


def bot_url(name: str) -> str:
    """Return the address of a bot, ``owner/bot``, or of one version, ``owner/bot@version``."""
    owner, _, bot = name.partition("/")
    bot, _, version = bot.partition("@")
    return with_query(_path("bots", owner, bot), {"version": version})


@lru_cache(MOST_LINKS)
def bot_link(name: str) -> Markup:
    """Return a link to a bot, or to one version of it; a page may have hundreds."""
    owner, _, bot = plain(name).partition("/")
    bot, _, version = bot.partition("@")
    number = Markup('<span class="number">@{}</span>').format(version) if version else ""
    label = Markup('<bdi><span class="owner">{}/</span><b>{}</b>{}</bdi>').format(owner, bot, number)
    return Markup('<a class="bot" href="{}">{}</a>').format(bot_url(name), label)


def sign_up_url(origin: str, code: str) -> str:
    """Return the address at which somebody with an invitation signs up."""
    return with_query(f"{origin}/sign-up", {"invitation": code})


def start_url(name: str) -> str:
    """Return the address that shows the owner of ``owner/bot`` how to start it."""
    owner, _, bot = name.partition("/")
    return _path("bots", owner, bot.partition("@")[0], "start")


def manage_url(name: str) -> str:
    """Return the address at which the authors of ``owner/bot`` manage it."""
    owner, _, bot = name.partition("/")
    return _path("bots", owner, bot.partition("@")[0], "manage")


def version_url(name: str) -> str:
    """Return the address at which the authors of ``owner/bot@version`` manage that version."""
    owner, _, bot = name.partition("/")
    bot, _, version = bot.partition("@")
    return _path("bots", owner, bot, "versions", version)


def tournament_url(name: str) -> str:
    """Return the address of a tournament."""
    return _path("tournaments", name)


def desk_url(tournament: str) -> str:
    """Return the address at which a tournament's organiser steers it."""
    return _path("tournaments", tournament, "desk")


def match_url(tournament: str, round: int, table: int) -> str:
    """Return the address of a match."""
    return _path("matches", tournament, round, table)


def deal_url(tournament: str, round: int, table: int, session: int, deal: int) -> str:
    """Return the address of a deal."""
    return _path("matches", tournament, round, table, session, deal)


def round_url(tournament: str, round: int) -> str:
    """Return the address of a round of a tournament."""
    return _path("tournaments", tournament, "rounds", round)


def together_url(tournament: str, round: int, session: int, deal: int) -> str:
    """Return the address that shows a deal at all tables of a duplicate round."""
    return _path("tournaments", tournament, "rounds", round, "sessions", session, "deals", deal)


def league_url(name: str) -> str:
    """Return the address of a league."""
    return _path("leagues", name)


def ruleset_url(name: str) -> str:
    """Return the address of a ruleset: ``name`` or ``name@version``."""
    return _path("rules", name)


def wheel_url(project: str = LIGHT) -> str:
    """Return the address of a distribution's wheel, by default that of the library for authors."""
    return _path("simple", project, wheel_file(project))


def install_command(origin: str, *, whole: bool = False, verifier: bool = False) -> str:
    """Return the command that installs the library from the arena at an address, the verifier, or all."""
    projects = (LIGHT, *((WHOLE,) if whole else ()), *((VERIFY,) if verifier else ()))
    return " ".join(["pip install", *(f"{origin}{wheel_url(project)}" for project in projects)])


def with_query(path: str, query: Mapping[str, object]) -> str:
    """Return an address with a query: a parameter for each item of a list, none for None or an empty text."""
    parameters = {name: value for name, value in query.items() if value is not None and value != ""}
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path
