"""Pages of the documentation made from docstrings: ``python -m tests.arena.reference`` writes them.

docs/json.md gets a table of keys for the answer of each command, docs/api.md a table of routes for each of
its groups, and docs/pages.md the pages that do what commands do. Everything else there is written by hand,
and kept.
"""

import inspect
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from fastapi.routing import APIRoute

from arena.bots.checks import CheckReport
from arena.bots.versions import Registered, VersionInfo
from arena.cli.verify import BoardVerdict, Verdict
from arena.core.corrections import Correction
from arena.core.specs import TournamentFields
from arena.operations.all import OPERATIONS
from arena.operations.leagues import Changes
from arena.operations.operation import Operation
from arena.operations.tournaments import Changed
from arena.people.accounts import AccountInfo
from arena.people.tokens import MadeToken, TokenInfo
from arena.play.rounds.overview import TournamentShown
from arena.queries.board import Baselines
from arena.queries.luck import References
from arena.queries.ownbots import LogLine, OwnDeal
from arena.queries.profiles import VersionPage
from arena.queries.rulesets import RulesetLine
from arena.queries.scoreboard import CrosstableMatrix, Scoreboard
from arena.queries.sessions import PlayedMatch, PlayedSession
from arena.results.ratings.rebuild import Rebuilt
from arena.running.findings import Findings
from arena.tournaments.admission import EntriesShown
from arena.tournaments.entry import Prospect
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import ConnectedBot
from arena.trust.verify.botlogs import Comparison
from arena.web.app import ROUTERS
from arena.web.doors import operations_in
from arena.web.routing import PREFIX
from referee.local.report import Report
from referee.local.rewind import Answered, Priced
from tests.arena.everywhere import commands
from tests.arena.shapes import Key, form, keys_of, objects_in, parts_of, title_of, worded
from tests.arena.web.capabilities import NOT_ON_PAGES, ON_PAGES

DOCS = Path(__file__).resolve().parents[2] / "docs"

ANYTHING = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Standings(Scoreboard):
    """The standings of a tournament, with `--crosstable` beside its crosstable."""

    crosstable: CrosstableMatrix
    """Only with `--crosstable`."""
    next: str | None
    """Likewise: the value for `--cursor` that continues the crosstable; None: there is no more."""


@dataclass(frozen=True, kw_only=True)
class Watched(TournamentStatus):
    """A tournament that is watched; an object a line, whenever something has changed."""

    LEFT_OUT = ("leased_until",)
    notes: Sequence[str]
    """What the tournament waits for, a line each."""


@dataclass(frozen=True, kw_only=True)
class Corrected(Correction):
    """A correction that was made."""

    tournament: str


@dataclass(frozen=True, kw_only=True)
class SessionPrinted(PlayedSession):
    """A finished session with its deals."""

    records: Sequence[ANYTHING]
    """Full deal records but for the ruleset; none if the match says why they are withheld."""


@dataclass(frozen=True, kw_only=True)
class MatchPrinted(PlayedMatch):
    """A match with all its finished sessions and their deals."""

    sessions: tuple[SessionPrinted, ...]


@dataclass(frozen=True, kw_only=True)
class Seatings:
    """Who sits where in the sessions of a match."""

    seatings: Sequence[Sequence[int]]
    """For each session the positions by seat, from 0."""
    seats: Sequence[Sequence[int]]
    """How often each position has each seat."""
    after: Sequence[Sequence[int]]
    """How often each position plays after each other one."""


@dataclass(frozen=True, kw_only=True)
class RulesetWhole:
    """A ruleset with all its fields."""

    ruleset: ANYTHING
    """The fields ([rulesets.md](rulesets.md))."""


@dataclass(frozen=True, kw_only=True)
class Presets:
    """The rulesets that there are."""

    rulesets: Sequence[RulesetLine]


@dataclass(frozen=True, kw_only=True)
class Removed:
    """A webhook that was removed."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """A tournament that was deleted."""

    tournament: str


@dataclass(frozen=True, kw_only=True)
class SettingsShown:
    """The settings of an arena."""

    settings: Mapping[str, str]
    """As text, secrets hidden ([running.md](running.md))."""


@dataclass(frozen=True, kw_only=True)
class BackedUp:
    """A backup that was made."""

    file: str
    schema: str
    """That of the database in it."""


@dataclass(frozen=True, kw_only=True)
class Restored:
    """A database that was restored. Without a file, only `schema` and `anew`."""

    file: str
    schema: str
    """That of the database now."""
    anew: Sequence[str]
    """Tournaments that go on with new cards."""
    again: Sequence[str] | None
    """Tournaments that had ended, and run again. This and what follows is None if the database that was
    replaced cannot be compared."""
    gone: Sequence[str] | None
    """Tournaments that the backup does not have."""
    sessions: int | None
    """Finished sessions that are lost."""
    bots: int | None
    """Bot versions that the backup does not have."""


@dataclass(frozen=True, kw_only=True)
class Migrated:
    """The schema of a database that was upgraded."""

    before: str | None
    """None: there were no tables."""
    schema: str
    """The present one."""


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What is found in exports."""

    files: Sequence[Verdict]
    boards: Sequence[BoardVerdict]
    """The same of boards."""
    logs: Sequence[Comparison]
    """What comes of comparing them with each `--with`."""
    problem: str | None
    """What is wrong between the files; None: nothing is."""
    unproven: Sequence[str]
    """What an export cannot prove, a line each."""


@dataclass(frozen=True, kw_only=True)
class Rewound:
    """A bot asked again."""

    seat: int
    """Whose turns they are."""
    answers: Sequence[Answered]
    """For a turn, or with `--all` for every turn in which it was asked."""


@dataclass(frozen=True, kw_only=True)
class Explained:
    """What decisions cost."""

    seat: int
    """Whose decisions they are."""
    decisions: Sequence[Priced]
    """Those with a choice: first those that could clearly have been better, the costliest first."""


@dataclass(frozen=True, kw_only=True)
class NewFolder:
    """A new bot's folder."""

    folder: str
    """Where it was written."""
    language: str
    strategy: str
    """The file to begin with."""
    passed: int
    """How many scenarios of the check it passed, once it was built and tested."""


@dataclass(frozen=True, kw_only=True)
class Connected:
    """Bots that are connected."""

    bots: Sequence[ConnectedBot]


@dataclass(frozen=True, kw_only=True)
class TokenFile:
    """A bot that was registered, and where its token is."""

    bot: str
    token_file: str


@dataclass(frozen=True, kw_only=True)
class RegisteredFile:
    """Bots that were registered from a file."""

    bots: Sequence[TokenFile]


ANSWERS: Mapping[str, type] = {
    **dict.fromkeys(["compare", "play"], Report),
    **dict.fromkeys(
        [f"account {one}" for one in ("create", "disable", "enable", "password", "role")], AccountInfo
    ),
    **dict.fromkeys([f"tournament {one}" for one in ("create", "change", "cancel", "confirm")], Changed),
    "backup": BackedUp,
    "bot check": CheckReport,
    "bot explain": Explained,
    "bot games": OwnDeal,
    "bot list": VersionPage,
    "bot list --connected": Connected,
    "bot log": LogLine,
    "bot new": NewFolder,
    "bot register": Registered,
    "bot register --file": RegisteredFile,
    "bot revoke": VersionInfo,
    "bot rewind": Rewound,
    "bot rotate": Registered,
    "config": SettingsShown,
    "doctor": Findings,
    "league apply": Changes,
    "league invite": EntriesShown,
    "match seating": Seatings,
    "match show": MatchPrinted,
    "migrate": Migrated,
    "rating baseline": Baselines,
    "rating rebuild": Rebuilt,
    "rating references": References,
    "restore": Restored,
    "rules check": RulesetWhole,
    "rules list": Presets,
    "rules show": RulesetWhole,
    "token revoke": TokenInfo,
    "token rotate": MadeToken,
    "tournament correct": Corrected,
    "tournament delete": Deleted,
    "tournament invite": EntriesShown,
    "tournament may-enter": Prospect,
    "tournament show": TournamentShown,
    "tournament standings": Standings,
    "tournament watch": Watched,
    "verify": Verified,
    "webhook remove": Removed,
}
"""What commands print that are not made from an operation alone."""

ELSEWHERE: Mapping[type, str] = {TournamentFields: "[tournaments.md](tournaments.md)"}
"""Objects whose keys are on other pages."""

GROUPS = {
    "Tournaments": ("tournament",),
    "Matches and deals": ("match", "deal"),
    "Ratings": ("leaderboard", "crosstable", "rating"),
    "Bots": ("bot",),
    "Local play": ("play", "compare"),
    "Leagues": ("league",),
    "Accounts, tokens and webhooks": ("account", "token", "webhook"),
    "Rulesets": ("rules",),
    "Running an arena": ("audit", "backup", "config", "doctor", "migrate", "restore", "verify"),
}
"""The first words of commands, by the headings of the page."""


def answers() -> dict[str, type]:
    """Return the type of what each command with ``--json`` prints."""
    found: dict[str, type] = {}
    for name, command in commands():
        operation = getattr(command.callback, "operation", None)
        if operation is not None and operation.answer not in (None, NoneType) and name not in ANSWERS:
            found[name] = operation.answer
    return {**found, **ANSWERS}


class Page:
    """The part of docs/json.md that follows from types."""

    def __init__(self, printed: Mapping[str, type]) -> None:
        self._commands: dict[type, list[str]] = {}
        for name, kind in printed.items():
            self._commands.setdefault(kind, []).append(name)
        uses = Counter([*self._commands])
        waiting = [*self._commands]
        for kind in waiting:
            inner = [one for key in keys_of(kind) for one in objects_in(key.kind) if one not in ELSEWHERE]
            waiting += dict.fromkeys(one for one in inner if one not in uses)
            uses.update(inner)
        self._shared = [one for one in waiting if uses[one] > 1 and one not in self._commands]

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        for group, words in GROUPS.items():
            yield from ("", f"## {group}")
            for kind, names in self._commands.items():
                if names[0].split()[0] in words:
                    yield from self._section(kind)
        yield from ("", "## What several answers have")
        for kind in self._shared:
            yield from self._section(kind)

    def _section(self, kind: type) -> Iterator[str]:
        yield from ("", f"### {title_of(kind)}", "")
        if by := self._commands.get(kind, ()):
            yield from (", ".join(f"`arena {name}`" for name in by), "")
        told, own = worded(inspect.getdoc(kind) or ""), keys_of(kind)
        if told.rstrip(".") != title_of(kind):
            yield from (told, "")
        if base := next((one for one in kind.__mro__[1:] if self._has_section(one)), None):
            left_out = "".join(f", without `{name}`" for name in getattr(kind, "LEFT_OUT", ()))
            yield from (f"The keys of {_link(base)}{left_out}, and these:", "")
            inherited = {one.name for one in keys_of(base)}
            own = [one for one in own if one.name not in inherited]
        yield from ("| key | value | meaning |", "|---|---|---|")
        yield from (f"| {' | '.join(row)} |" for row in self._rows("", own))

    def _has_section(self, kind: type) -> bool:
        return kind in self._commands or kind in self._shared

    def _rows(self, at: str, keys: Sequence[Key]) -> Iterator[tuple[str, str, str]]:
        for key in keys:
            inner = [*objects_in(key.kind)]
            links = [
                ELSEWHERE.get(one) or _link(one)
                for one in inner
                if one in ELSEWHERE or self._has_section(one)
            ]
            yield (
                f"`{at}{key.name}`",
                form(key.kind),
                " ".join([key.told, *(f"See {one}." for one in links)]).strip(),
            )
            _, _, many, free = parts_of(key.kind)
            for one in inner if not links else ():
                yield from self._rows(f"{at}{key.name}{'[]' * many}{'.*' * free}.", keys_of(one))


def _link(kind: type) -> str:
    title = title_of(kind)
    anchor = re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
    return f"[{title[:1].lower()}{title[1:]}](#{anchor})"


def routes(tag: str) -> Iterator[str]:
    """Yield the lines of the table of a group's routes."""
    operations = {
        (str(one.method), PREFIX + one.path): one for module in OPERATIONS for one in operations_in(module)
    }
    yield "| route | what it does | parameters | scope |"
    yield "|---|---|---|---|"
    for route in (route for router in ROUTERS for route in router.routes):
        if isinstance(route, APIRoute) and tag in route.tags:
            method = min(route.methods or ())
            path, told = route.path.removeprefix(PREFIX), worded(route.description.partition("\n\n")[0])
            given, scope = _needed(route, operations.get((method, route.path)))
            names = ", ".join(name if " " in name else f"`{name}`" for name in given)
            yield f"| `{method} {path}` | {told} | {names} | {scope} |"


def _needed(route: APIRoute, operation: Operation[Any, Any] | None) -> tuple[Sequence[str], str]:
    """Return the names of a route's parameters that are not in its path, and the scope that a key needs."""
    if operation is not None:
        if operation.body:
            return ["the body"], " or ".join(operation.scopes)
        names = [
            one.parts.query if one.parts else one.name
            for one in operation.parameters.values()
            if not operation.in_path(one) or (one.parts and one.parts.query)
        ]
        return names, " or ".join(operation.scopes)
    sent = (
        []
        if route.body_field is None
        else getattr(route.body_field.field_info.annotation, "model_fields", {})
    )
    return [*(one.name for one in route.dependant.query_params), *sent], ""


BEGIN = "<!-- What follows is made from docstrings: python -m tests.arena.reference -->"

PLACES = re.compile(r"(<!-- commands -->\n).*?(?=<!-- end -->)", re.S)
PART = re.compile(r"(<!-- routes: (\w+) -->\n).*?(?=<!-- end -->)", re.S)


def json_page(text: str) -> str:
    """Return docs/json.md with its present generated part."""
    by_hand, _, _ = text.partition(BEGIN)
    return "\n".join([f"{by_hand}{BEGIN}", *Page(answers()).lines(), ""])


def api_page(text: str) -> str:
    """Return docs/api.md with its present generated parts."""
    return PART.sub(lambda found: "\n".join([found[1], *routes(found[2]), "", ""]), text)


def places() -> Iterator[str]:
    """Yield the lines that say on which page the same can be done as with a command."""
    yield "| page | commands of `arena` |"
    yield "|---|---|"
    for path, names in ON_PAGES.items():
        yield f"| `{path.replace(':int', '')}` | {', '.join(f'`{name}`' for name in names)} |"
    yield ""
    yield "No page replaces the others:"
    yield ""
    for reason, names in NOT_ON_PAGES.items():
        yield f"- {', '.join(f'`{name}`' for name in names)}: {reason}"


def pages_page(text: str) -> str:
    """Return docs/pages.md with its present generated part."""
    return PLACES.sub(lambda found: "\n".join([found[1], *places(), "", ""]), text)


PAGES = {"json.md": json_page, "api.md": api_page, "pages.md": pages_page}

if __name__ == "__main__":
    for name, made in PAGES.items():
        page = DOCS / name
        page.write_text(made(page.read_text(encoding="utf-8")), encoding="utf-8")
