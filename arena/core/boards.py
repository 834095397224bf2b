"""The board of a pool as one file that can be checked (docs/formats.md, "Boards"), as values."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict

from arena.core.ranking import ScoreKind

FORMAT: Literal["bigtwo-board/1"] = "bigtwo-board/1"

_STRICT = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class BoardTournament:
    """A tournament of which rounds were rated in the pool."""

    tournament: str
    """Its name."""
    commitment: str
    """The digest of its head."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardRound:
    """A round that was rated in the pool."""

    tournament: str
    """The tournament's name."""
    round: int
    """Its number."""
    rated_after: int
    """Matches rated under the ruleset before those of the round."""
    matches: int
    """Number of its matches that were rated."""
    results: str
    """SHA-256 of the digests of its sessions' signed results, in hexadecimal, one after the other."""
    beta: int | None
    """The share of what cards were worth that was expected in it, in 64ths; None if that is not known yet."""
    beta_after: int | None
    """The number of deals of the pool from which ``beta`` follows; None if there is none."""
    references: str | None
    """SHA-256 of the digests of its ``reference`` parts, one after the other; None without ``beta``."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardSums:
    """Sums over the matches of the pool in which the same kind of score counts."""

    kind: ScoreKind
    """What counts: points, what bots made of their cards, or duplicate scores."""
    matches: int
    """Number of matches with deals that count."""
    deals: int
    """Number of these deals."""
    forfeited: int
    """Number of deals that count only for the bot that forfeited them."""
    within: float
    """Squared distances of deals from the means of their matches."""
    between: float
    """Squared mean scores of the matches, times their deals."""
    raw_within: float
    """What ``within`` would be if points counted; 0 but for ``made``."""
    raw_between: float
    """What ``between`` would be if points counted; 0 but for ``made``."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardFit:
    """What a fit of the strengths says of the whole pool, in points a deal."""

    deviation: float
    """Standard deviation of a bot's points in one deal."""
    made_deviation: float | None
    """That of what a bot made of its cards; None if that counts in no match."""
    spread: float
    """Standard deviation of the strengths."""
    gain: float
    """Standard deviation of what a bot gains from a particular opponent beyond their strengths."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardScore:
    """A bot's score in the sums of a kind."""

    kind: ScoreKind
    """What counts as score."""
    deals: int
    """Number of its deals that count for all at the table."""
    score: float
    """Sum of its scores less the means of the tables."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardStrength:
    """The strength of a bot version, as the board shows it."""

    value: float
    """Points a deal above the mean of the group."""
    error: float
    """The standard error of that."""
    above: float
    """Points a deal above the anchor."""
    above_error: float
    """The standard error of that."""
    anchored: bool
    """Whether the anchor is the baselines of the group."""
    figure: float
    """Strength on a scale like that of Elo."""
    figure_low: float
    """The lower end of its 95 % interval."""
    figure_high: float
    """The upper end."""
    ahead: float | None
    """How often it finishes a deal ahead of another bot, from 0 to 1; None if unknown."""
    ahead_low: float | None
    """The lower end of the 95 % interval of that."""
    ahead_high: float | None
    """The upper end."""
    deals: int
    """How many deals it is based on."""
    group: int
    """From 1; bots of different groups never met."""
    rank: int
    """Place in the group."""
    best: int
    """The best place that it may have."""
    worst: int
    """The worst place."""
    tier: int
    """From 1."""
    parts_after: int | None
    """Deals more until it and the next one are told apart; None for the last of a group."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardLuck:
    """Sums over the deals of a bot of which it is known what the cards were worth, in 64ths of a point."""

    deals: int
    """Number of deals."""
    points: int
    """Sum of its points above the mean of the table."""
    squares: int
    """Sum of their squares."""
    expected: int
    """Sum of what was expected from its cards."""
    expected_squares: int
    """Sum of the squares of that."""
    product: int
    """Sum of the products of both."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class RatedAt:
    """The match in which a rating last changed."""

    tournament: str
    """The tournament's name."""
    round: int
    """The round."""
    table: int
    """The table."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardBot:
    """A bot version in the pool."""

    bot: str
    """``owner/bot@version``."""
    rating: float
    """Elo."""
    matches: int
    """Rated matches."""
    deals: int
    """Deals in these."""
    since: RatedAt
    """The latest of the matches."""
    scores: tuple[BoardScore, ...]
    """Its scores, by kind, without those of no deals."""
    luck: BoardLuck | None
    """From which it follows what it made of its cards; None if that is known of no deal."""
    strength: BoardStrength | None
    """None without deals that count."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class BoardSigned:
    """The digest of a board, signed with the arena's key; all in hexadecimal."""

    digest: str
    """SHA-256 of the board without ``signed``, as canonical JSON."""
    signature: str
    """An Ed25519 signature of the digest's 32 bytes."""
    key: str
    """The public key, which heads of tournaments name as ``decision_key``."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a pool, with all from which it can be checked, given the exports of its tournaments."""

    format: Literal["bigtwo-board/1"]
    """The version of this format."""
    ruleset: str
    """Name and version of the ruleset, as ``hong-kong@1``."""
    ruleset_hash: str
    """Its hash."""
    table_size: int
    """Bots at a table."""
    reference: str
    """The name of the reference that says what cards were worth."""
    reference_hash: str
    """Its hash."""
    baselines: tuple[str, ...]
    """The bot versions that anchor the scale, in the order of ``bots``."""
    tournaments: tuple[BoardTournament, ...]
    """In the order in which their first rounds were rated."""
    rounds: tuple[BoardRound, ...]
    """The rated rounds, in the order of rating."""
    sums: tuple[BoardSums, ...]
    """The sums from which strengths follow."""
    fit: BoardFit | None
    """None if no deal counts."""
    bots: tuple[BoardBot, ...]
    """All bot versions in the pool, in the order in which they were registered."""
    signed: BoardSigned
    """The signature of all this."""

    __pydantic_config__ = _STRICT
