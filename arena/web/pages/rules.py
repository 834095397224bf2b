"""The pages of rulesets: the rules in words with pictures, their fields, and how two rulesets differ."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse, Response

from arena.actors import KeyScope
from arena.errors import SpecError
from arena.operations import rulesets as operations
from arena.queries import rulesets
from arena.queries.names import list_pools
from arena.queries.replays.sandbox import Tried, read_cards, try_cards
from arena.queries.rulesets import RulesetShown
from arena.web.context import Shared
from arena.web.pages.files import read_toml
from arena.web.pages.forms import AnyVisit, Forms, FromForm, Visit
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from referee.errors import Problem
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.reading import json_schema

router = page_router()

LISTED = 100

CARD = r"(?:[2-9TJQKAGB][DCHS]|[BR]J)"
CARDS = re.compile(rf"\b{CARD}(?: {CARD})*\b")
EXAMPLE = re.compile(rf"([^():<]+?) \(({CARD}(?: {CARD})+)\)")
"""The name of a kind of play, with an example."""

Called = Annotated[str, Path(max_length=200)]


Written = Annotated[str, Query(max_length=200)]
"""Cards as users type them."""


class RulesAsked(FromForm):
    """The query parameters: the ruleset to compare with, and the cards to try."""

    other: str | None = None
    cards: Written = ""
    against: Written = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the rules."""

    title: str
    words: Sequence[str | Sequence[str]]
    """Its text, in which cards are lists."""
    examples: Sequence[tuple[str, Sequence[str]]]
    """The plays that illustrate it, by kind."""


@dataclass(frozen=True, slots=True)
class FieldShown:
    """A field of a ruleset."""

    name: str
    meaning: str
    """What it means."""
    value: object
    other: object = None
    """The other ruleset's value, if two are compared."""


OWN_RULESET = """\
extends = "hong-kong"
name = "our-house"
last_top_card = "allowed"
"""
"""What is in the form for a ruleset of one's own at first."""


def _listed(visit: Visit) -> dict[str, object]:
    cursor = visit.request.query_params.get("cursor")
    listed = rulesets.list_rulesets(visit.web.storage, LISTED, cursor)
    return {"found": listed, "cursor": cursor, "example": OWN_RULESET, "checked": None, "paragraphs": ()}


listing = Forms(router, "/rules", "rules.html", _listed)


@router.get("/rules")
def list_rules(visit: AnyVisit) -> HTMLResponse:
    """Show the presets, and the rulesets that tournaments were created with."""
    visit.query_of(operations.list_rulesets)
    return listing.show(visit)


def _show_checked(visit: Visit, checked: RulesetShown) -> Response:
    """Show what a ruleset means, below the form that has it."""
    return listing.show(visit, checked=checked, paragraphs=[paragraph(text) for text in checked.description])


listing.add_other(
    "/rules",
    KeyScope.READ,
    lambda visit: visit.do(operations.check_ruleset, ruleset=read_toml(visit.sent["ruleset"])),
    _show_checked,
)


@router.get("/rules/{ruleset}")
def show_rules(
    page: Page, web: Shared, ruleset: Called, query: Annotated[RulesAsked, Query()]
) -> HTMLResponse:
    """Show a ruleset and, on request, how it differs from another one."""
    shown_ruleset = rulesets.find_ruleset(web.storage, ruleset)
    other = None if query.other is None else rulesets.find_ruleset(web.storage, query.other)
    played = load_ruleset(shown_ruleset.ruleset)
    tried, wrong = put_cards(played, query)
    return page(
        "ruleset.html",
        ruleset=shown_ruleset,
        paragraphs=[paragraph(text) for text in shown_ruleset.description],
        fields=[*fields_of(shown_ruleset)],
        rated=any(pool.hash == shown_ruleset.hash for pool in list_pools(web.storage)),
        other=other,
        differences=None if other is None else differences(shown_ruleset, other),
        known=rulesets.list_rulesets(web.storage, LISTED).rulesets,
        played=played,
        asked=query,
        tried=tried,
        wrong=wrong,
    )


def put_cards(ruleset: Ruleset, query: RulesAsked) -> tuple[Tried | None, Mapping[str, Problem]]:
    """Return the result of trying the cards in a request, and what is wrong with them, by field."""
    read: dict[str, tuple[str, ...]] = {}
    wrong: dict[str, Problem] = {}
    for field, text in (("cards", query.cards), ("against", query.against)):
        try:
            read[field] = read_cards(ruleset, field, text)
        except SpecError as error:
            wrong |= {problem.field: problem for problem in error.problems}
    if wrong or not read["cards"]:
        return None, wrong
    return try_cards(ruleset, read["cards"], read["against"]), wrong


def paragraph(text: str) -> Paragraph:
    """Return a paragraph of the rules, with its cards recognised."""
    title, _, rest = text.partition(": ")
    if not rest:
        title, rest = "", text
    examples = [(kind.strip(" ;,."), cards.split()) for kind, cards in EXAMPLE.findall(rest)]
    return Paragraph(title, [*_words(rest)], examples)


def _words(text: str) -> Iterator[str | Sequence[str]]:
    end = 0
    for match in CARDS.finditer(text):
        yield text[end : match.start()]
        yield match.group().split()
        end = match.end()
    yield text[end:]


@cache
def _descriptions() -> Mapping[str, str]:
    """Return the meaning of each field."""
    return {name: property.get("description", "") for name, property in json_schema()["properties"].items()}


def fields_of(ruleset: RulesetShown) -> Iterator[FieldShown]:
    """Yield the fields of a ruleset."""
    for name, value in ruleset.ruleset.items():
        yield FieldShown(name, _descriptions().get(name, ""), value)


def differences(ruleset: RulesetShown, other: RulesetShown) -> Sequence[FieldShown]:
    """Return the fields in which two rulesets differ, other than their names."""
    return [
        FieldShown(name, _descriptions().get(name, ""), value, other.ruleset[name])
        for name, value in ruleset.ruleset.items()
        if name not in ("name", "version") and value != other.ruleset[name]
    ]
