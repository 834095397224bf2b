"""Strengths: the sums that they are fitted to, and the fits."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.core.ranking import ScoreKind
from arena.store.models.columns import text_of


class StrengthSums(SQLModel, table=True):
    """Sums over the rated matches of a pool (``strength.sums``) in which the same kind of score counts.

    A match without duplicate deals is among the plain ones until its round's cards have been weighed.
    """

    __tablename__: ClassVar[str] = "strength_sums"
    __table_args__ = (UniqueConstraint("ruleset_id", "table_size", "kind"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    kind: ScoreKind = Field(sa_type=text_of(ScoreKind))
    """What counts as score."""
    matches: int = 0
    """Number of matches."""
    deals: int = 0
    """Number of their deals."""
    within: float = 0.0
    """Sum of the squared distances of deals from the means of their matches."""
    between: float = 0.0
    """Sum of the squared mean scores of the matches, weighted by their deals."""
    raw_within: float = 0.0
    """What ``within`` would be if points counted; 0 but for what was made of cards."""
    raw_between: float = 0.0
    """What ``between`` would be if points counted; 0 but for what was made of cards."""
    forfeited: int = 0
    """Number of deals that count only for the bot that forfeited them."""


class StrengthScore(SQLModel, table=True):
    """A bot version's score in one of the sums."""

    __tablename__: ClassVar[str] = "strength_scores"

    sums_id: int = Field(foreign_key="strength_sums.id", primary_key=True)
    """Which sums."""
    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version."""
    matches: int = 0
    """Number of its matches."""
    deals: int = 0
    """Number of its deals."""
    score: float = 0.0
    """Points minus the mean of the table, summed over the deals."""
    within: float = 0.0
    """Its part of ``within`` in ``strength_sums``."""
    between: float = 0.0
    """Its part of ``between`` in ``strength_sums``."""


class Meeting(SQLModel, table=True):
    """How two bot versions fared at the same tables, in one of the sums.

    Points decide who was ahead and by how much, even if it is the scores of duplicate deals that count.
    """

    __tablename__: ClassVar[str] = "meetings"
    __table_args__ = (Index(None, "other_id", "sums_id"),)

    sums_id: int = Field(foreign_key="strength_sums.id", primary_key=True)
    """Which sums."""
    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version with the lower id."""
    other_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version with the higher id."""
    deals: int = 0
    """Number of deals that both played."""
    matches: int = 0
    """Number of matches with such deals."""
    ahead: int = 0
    """Deals in which ``version_id`` had more points."""
    behind: int = 0
    """Deals in which ``other_id`` had more points."""
    lead: int = Field(default=0, sa_type=BigInteger)
    """Points of ``version_id`` minus those of ``other_id``, summed over the deals."""
    score: float = 0.0
    """The same of what counts as score."""
    last_match_id: int = 0
    """The latest of the matches, by id."""


class LeftMeeting(SQLModel, table=True):
    """How a bot version fared in deals that it forfeited, against one that sat there, in one of the sums.

    The deals count for ``version_id`` only, and as they stand.
    """

    __tablename__: ClassVar[str] = "left_meetings"
    __table_args__ = (Index(None, "other_id", "sums_id"),)

    sums_id: int = Field(foreign_key="strength_sums.id", primary_key=True)
    """Which sums."""
    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version that forfeited."""
    other_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The other one."""
    deals: int = 0
    """Number of the deals."""
    matches: int = 0
    """Number of matches with such deals in which no deal counts for both."""
    ahead: int = 0
    """Deals in which ``version_id`` had more points."""
    behind: int = 0
    """Deals in which ``other_id`` had more points."""
    lead: int = Field(default=0, sa_type=BigInteger)
    """Points of ``version_id`` minus those of ``other_id``, summed over the deals."""
    score: float = 0.0
    """The same of what counts as score."""


class StrengthFit(SQLModel, table=True):
    """One fit of the strengths of a pool; the latest is in ``strengths`` too.

    Not all fits are kept; see ``arena.results.strength.fitting``.
    """

    __tablename__: ClassVar[str] = "strength_fits"
    __table_args__ = (UniqueConstraint("ruleset_id", "table_size", "matches", "made", "forfeited"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    matches: int
    """Number of matches in the fit."""
    made: int = 0
    """In how many of them it counts what bots made of their cards."""
    forfeited: int = 0
    """Number of deals that count only for the bot that forfeited them."""
    deals: int
    """Number of their deals."""
    deviation: float
    """Standard deviation of a bot's points in one deal."""
    made_deviation: float | None = None
    """Standard deviation of what a bot made of its cards in one deal; NULL if it counts in no match."""
    spread: float
    """Standard deviation of the strengths."""
    gain: float
    """Standard deviation of what a bot gains from a particular opponent beyond their strengths."""
    baselines: list[int] = Field(default_factory=list, sa_type=JSON)
    """Ids of the bot versions that were its baselines, ascending."""
    seconds: float
    """Seconds that the fit took."""
    fitted_at: datetime
    """When it was made."""
    lines: bytes = Field(sa_type=LargeBinary)
    """For each bot version [id, strength, error], as compressed JSON."""
    pair_errors: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Standard errors of the differences of all pairs (``strength.ranges.pair_errors``); NULL in large pools,
    and for all but the latest fit."""


class Strength(SQLModel, table=True):
    """A bot version's strength in a pool, by the latest fit."""

    __tablename__: ClassVar[str] = "strengths"
    __table_args__ = (
        UniqueConstraint("ruleset_id", "table_size", "version_id"),
        Index(None, "ruleset_id", "table_size", "group_number", "rank"),
    )

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id", index=True)
    """Whose strength."""
    value: float
    """Points per deal above the mean of its group."""
    error: float
    """Standard error of ``value``."""
    above: float
    """Points per deal above the baselines of its group, or above its mean if it has none."""
    above_error: float
    """Standard error of ``above``."""
    anchored: bool
    """Whether its group has baselines."""
    shift: float
    """How far its anchor has moved up since its history began, in points per deal."""
    ahead: float | None
    """How often it finishes a deal ahead of another bot of its group, from 0 to 1; NULL if not known."""
    ahead_low: float | None
    """The lower end of the 95 % interval of ``ahead``."""
    ahead_high: float | None
    """The upper end of the interval."""
    deals: int
    """Number of deals behind it."""
    group_number: int
    """Number of its group, from 1: bots that have not met, not even indirectly, are not comparable."""
    rank: int
    """Place in its group."""
    best: int
    """The best place that it plausibly has."""
    worst: int
    """The worst place that it plausibly has."""
    parts_after: int | None
    """Deals more of both until it and the next one of its group can be told apart; NULL for the last."""
    tier: int
    """Number of its tier."""
    last_value: float
    """The value that its history ends with (``StrengthPoint``)."""
    last_error: float
    """The standard error that its history ends with."""


class StrengthPoint(SQLModel, table=True):
    """A point in the history of a bot version's strength in a pool, stored when the strength had changed."""

    __tablename__: ClassVar[str] = "strength_points"
    __table_args__ = (Index(None, "version_id", "id"),)

    id: int = Field(default=None, primary_key=True)
    ruleset_id: int = Field(foreign_key="rulesets.id")
    """The pool's ruleset."""
    table_size: int
    """The pool's table size."""
    version_id: int = Field(foreign_key="bot_versions.id")
    """Whose strength."""
    fitted_at: datetime
    """When it was fitted."""
    value: float
    """The strength above the first anchor: ``above`` plus ``shift`` in ``strengths``."""
    error: float
    """Its standard error, as ``above_error`` in ``strengths``."""
    anchored: bool
    """As in ``strengths``."""
    deals: int
    """Number of deals behind it."""
    deviation: float
    """As in ``strength_fits``."""


class Baseline(SQLModel, table=True):
    """A bot version that anchors the scale of strengths in the pools in which it plays."""

    __tablename__: ClassVar[str] = "baselines"

    version_id: int = Field(foreign_key="bot_versions.id", primary_key=True)
    """The bot version."""
    named_at: datetime
    """When it became a baseline."""
