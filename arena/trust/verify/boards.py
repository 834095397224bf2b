"""Checking the board of a pool against the exports of its tournaments.

The rounds of a board are compared with those of the exports, one by one. If all are given, everything that it
says of bots is computed again, by the functions that computed it.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, groupby
from typing import Any

from arena.core.boards import Board, BoardBot, BoardLuck, BoardRound, BoardScore, BoardStrength, BoardSums
from arena.core.luck import Luck, Slope
from arena.core.ranking import ScoreKind
from arena.results.strength.board import board_rows, board_strength
from arena.results.strength.counts import Counts
from arena.results.strength.fit import DENSE, Fit, fit_counts
from arena.results.strength.scale import figures
from arena.results.strength.sums import Sums
from arena.trust.exports.boards import BoardError, joined_digest, read_board
from arena.trust.verify.pooled import Numbers, PooledRound, renumbered
from arena.trust.verify.report import Report, Where
from referee.matches.match import Signed
from referee.reference.values import REFERENCE
from referee.signing import is_valid

NEAR, NEAR_IN_LARGE = 1e-6, 1e-3
"""By how much figures may differ, for 1 or as a share of larger ones; in large pools, they are iterated."""

EMPTY = joined_digest(())
"""The digest of no parts."""


@dataclass(slots=True)
class BoardReport:
    """The result of checking a board."""

    pool: str = ""
    """The ruleset, and how many sit at a table; empty if the file is no board."""
    key: str = ""
    """The key that signed it."""
    tournaments: int = 0
    """How many tournaments were rated in the pool."""
    matches: int = 0
    """How many matches were rated in it."""
    bots: int = 0
    """How many bots are on it."""
    problem: str | None = None
    """The first difference; None if there is none."""
    missing: list[str] = field(default_factory=list)
    """The tournaments whose exports are not given, or wrong."""
    left_open: list[str] = field(default_factory=list)
    """What was not computed again."""


class _Wrong(Exception):
    """Raised if something in a board is wrong; the message says what and where."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A round of a board whose tournament's export is given."""

    line: BoardRound
    pooled: PooledRound


def check_board(text: bytes, reports: Sequence[Report], numbers: Numbers) -> tuple[BoardReport, Board | None]:
    """Check a board against the reports of exports, made with these ``numbers`` of bots."""
    report = BoardReport()
    try:
        board = read_board(text)
    except BoardError as error:
        report.problem = str(error)
        return report, None
    report.pool = f"{board.ruleset}, tables of {board.table_size}"
    report.key, report.tournaments, report.bots = board.signed.key, len(board.tournaments), len(board.bots)
    report.matches = sum(line.matches for line in board.rounds)
    try:
        _Check(board, report, reports, numbers).run()
    except _Wrong as wrong:
        report.problem = str(wrong)
    return report, board


class _Check:
    def __init__(
        self, board: Board, report: BoardReport, reports: Sequence[Report], numbers: Numbers
    ) -> None:
        self._board = board
        self._report = report
        self._numbers = numbers
        self._reports = [each for each in reports if each.problem is None]
        self._of_pool = [each for each in self._reports if each.ruleset_hash == board.ruleset_hash]
        self._by_name = {each.tournament: each for each in self._of_pool}
        self._near = NEAR if len(board.bots) <= DENSE else NEAR_IN_LARGE

    def run(self) -> None:
        """Check everything. Raise _Wrong for the first difference."""
        self._check_signature()
        self._check_form()
        given = self._check_rounds()
        self._check_given()
        whole = len(given) == len(self._board.rounds)
        slopes = self._check_betas({each.line.rated_after: each for each in given})
        self._check_unrated(slopes)
        self._check_elo()
        if whole:
            self._check_whole(given)
        else:
            self._report.missing = [
                each.tournament for each in self._board.tournaments if each.tournament not in self._by_name
            ]
            self._report.left_open += [
                "sums, strengths, intervals, ranks, tiers, what bots made of their cards, how often they "
                "finish ahead and when they are told apart: these follow from all tournaments of the pool",
                "that the tournaments that are not given were played as they were rated",
            ]

    # The file by itself

    def _check_signature(self) -> None:
        signed = self._board.signed
        if not is_valid(Signed(signed.digest, signed.signature, signed.key)):
            raise _Wrong("signed: the signature is not that of the key")
        keys = {each.decision_key for each in self._reports if each.decision_key is not None}
        if keys and signed.key not in keys:
            raise _Wrong("signed.key: is the decision_key of none of the tournaments that are given")
        if not keys:
            self._report.left_open.append("that the key is the arena's: no head of an export names it")

    def _check_form(self) -> None:
        """Check what follows from other fields of the board."""
        board = self._board
        names = [each.tournament for each in board.tournaments]
        self._same("tournaments: names", names, [*dict.fromkeys(line.tournament for line in board.rounds)])
        if len({(line.tournament, line.round) for line in board.rounds}) < len(board.rounds):
            raise _Wrong("rounds: one is there twice")
        if board.reference == REFERENCE.name:
            self._same("reference_hash", board.reference_hash, REFERENCE.hash)
        rated = 0
        for at, line in enumerate(board.rounds):
            where = f"rounds.{at}"
            if line.rated_after != rated:
                raise _Wrong(
                    f"{where}.rated_after: is {line.rated_after}, should be {rated}: "
                    "a tournament was left out of the pool, or is there twice"
                )
            rated += line.matches
            there = {line.beta is None, line.beta_after is None, line.references is None}
            if len(there) > 1:
                raise _Wrong(f"{where}: beta, beta_after and references are not all there")
        bots = [bot.bot for bot in board.bots]
        if len(set(bots)) < len(bots):
            raise _Wrong("bots: one is there twice")
        if not set(board.baselines) <= set(bots):
            raise _Wrong("baselines: one is not among the bots")
        for bot in board.bots:
            if bot.strength is not None and board.fit is not None:
                own = bot.strength
                right = figures(own.above, own.above_error, board.fit.deviation)
                shown = own.figure, own.figure_low, own.figure_high
                for name, value, figure in zip(("figure", "low", "high"), shown, right, strict=True):
                    self._close(f"{bot.bot}: strength: {name}", value, figure)

    # Rounds

    def _check_rounds(self) -> list[_Given]:
        """Compare the rounds with those of the exports, and return those that are given."""
        for each in self._board.tournaments:
            report = self._by_name.get(each.tournament)
            if report is not None and report.commitment != each.commitment:
                raise _Wrong(
                    f"tournaments: {each.tournament} has the commitment {each.commitment}, and the export "
                    f"of this name {report.commitment}"
                )
        given = []
        for line in self._board.rounds:
            report = self._by_name.get(line.tournament)
            if report is not None:
                pooled = next((each for each in report.pooled if each.round == line.round), None)
                given.append(_Given(line, self._compared(line, pooled)))
        return given

    def _compared(self, line: BoardRound, pooled: PooledRound | None) -> PooledRound:
        where = f"{line.tournament}, round {line.round}"
        if pooled is None or pooled.rated_after is None:
            raise _Wrong(f"{where}: is on the board, but was not rated according to the export")
        for name in ("rated_after", "matches", "results"):
            is_, right = getattr(line, name), getattr(pooled, name)
            if is_ != right:
                raise _Wrong(f"{where}: {name}: is {is_} on the board, and {right} in the export")
        if line.beta is not None:
            if line.references != pooled.references:
                raise _Wrong(
                    f"{where}: the reference parts of the export are not those of the board: one is missing, "
                    "shortened or altered, or the export is older than the board"
                )
            if line.references != EMPTY:
                for name in ("beta", "beta_after"):
                    is_, right = getattr(line, name), getattr(pooled, name)
                    if is_ != right:
                        raise _Wrong(f"{where}: {name}: is {is_} on the board, and {right} in the export")
        return pooled

    def _check_given(self) -> None:
        """Check that no rated round of the exports was left out."""
        listed = {(line.tournament, line.round) for line in self._board.rounds}
        for report in self._of_pool:
            for pooled in report.pooled:
                after = pooled.rated_after
                if after is None or (report.tournament, pooled.round) in listed:
                    continue
                if after < self._report.matches:
                    raise _Wrong(
                        f"{report.tournament}, round {pooled.round}: was rated after {after} matches, and is "
                        "not on the board: it was left out"
                    )
                self._report.left_open.append(
                    f"{report.tournament}, round {pooled.round}: was rated after the board was made"
                )

    # Beta

    def _check_betas(self, given: Mapping[int, _Given]) -> dict[int, int]:
        """Check beta of the rounds, in the order in which their cards were weighed, as far as it follows.

        Return beta after each number of deals, as far as it is known.
        """
        weighed = sorted(
            (line for line in self._board.rounds if line.beta is not None),
            key=lambda line: line.beta_after or 0,
        )
        slope = Slope()
        known = {0: slope.beta()}
        missing = False
        for deals, group in groupby(weighed, key=lambda line: line.beta_after or 0):
            lines = list(group)
            where = f"{lines[0].tournament}, round {lines[0].round}"
            if deals != slope.deals:
                if missing and deals > slope.deals:
                    self._report.left_open.append(f"beta from {where}, on: it follows from missing rounds")
                    return known
                raise _Wrong(f"{where}: beta_after: is {deals}, should be {slope.deals}")
            for line in lines:
                self._same(f"{line.tournament}, round {line.round}: beta", line.beta, slope.beta())
            added = [given[line.rated_after].pooled.slope for line in lines if line.rated_after in given]
            missing = len(added) < len(lines)
            if sum(each.deals > 0 for each in added) > 1:
                raise _Wrong(f"{where}: beta_after: is {deals}, as that of another round with deals")
            for more in added:
                slope = Slope(
                    slope.deals + more.deals, slope.cards + more.cards, slope.product + more.product
                )
            if not missing:
                known[slope.deals] = slope.beta()
        return known

    def _check_unrated(self, known: Mapping[int, int]) -> None:
        """Check beta of rounds that are not rated, which follows from those that are."""
        for report in self._of_pool:
            for pooled in report.pooled:
                if pooled.rated_after is None and pooled.beta is not None:
                    where = f"{report.tournament}, round {pooled.round}"
                    after = pooled.beta_after or 0
                    if after in known:
                        self._same(f"{where}: beta", pooled.beta, known[after])
                    elif after < max(known):
                        raise _Wrong(f"{where}: beta_after: no round of the pool ends at that deal")
                    else:
                        self._report.left_open.append(f"beta of {where}")

    # Bots

    def _check_elo(self) -> None:
        """Compare Elo with the exports in which it changed last, as far as these are given."""
        order = {(line.tournament, line.round): line.rated_after for line in self._board.rounds}
        latest: dict[str, Where] = {}
        rated = [part for report in self._of_pool for part in report.rated]
        for part in sorted(rated, key=lambda part: part.first):
            if part.first < self._report.matches:
                latest |= part.places
        for bot in self._board.bots:
            since = bot.since.tournament, bot.since.round, bot.since.table, bot.bot
            if since[:2] not in order:
                raise _Wrong(f"{bot.bot}: since: is no round of the board")
            last = latest.get(bot.bot)
            if last is not None and last != since and order[last[:2]] >= order[since[:2]]:
                raise _Wrong(f"{bot.bot}: since: it was rated later, in round {last[1]} of {last[0]}")
            report = self._by_name.get(bot.since.tournament)
            if report is not None:
                if since not in report.ratings:
                    raise _Wrong(f"{bot.bot}: since: it was not rated there")
                self._close(f"{bot.bot}: rating", bot.rating, report.ratings[since])

    def _check_whole(self, given: Sequence[_Given]) -> None:
        """Compute again all that follows from all rounds."""
        board = self._board
        numbers = {self._numbers.of(bot.bot): at + 1 for at, bot in enumerate(board.bots)}
        for each in given:
            if not each.pooled.played.keys() <= numbers.keys():
                raise _Wrong(f"bots: one that played in {each.line.tournament} is missing")
        sums = self._sums(given, numbers)
        kinds = [
            Counts.of(sums[kind], kind) for kind in ScoreKind if sums[kind].matches or sums[kind].forfeited
        ]
        self._check_sums(kinds)
        self._check_counts(given, numbers, sums)
        fit = fit_counts(kinds, _lines([bot.bot for bot in board.bots]))
        self._same("fit: is there", board.fit is not None, fit is not None)
        if fit is not None and board.fit is not None:
            self._check_fit(fit, kinds)

    def _sums(self, given: Sequence[_Given], numbers: Mapping[int, int]) -> dict[ScoreKind, Sums]:
        sums = {kind: Sums(self._board.table_size) for kind in ScoreKind}
        for each in given:
            pooled = each.pooled
            sums[pooled.kind].merge(pooled.sums)
            if each.line.beta is not None:
                sums[pooled.kind].merge(pooled.points, -1)
                sums[ScoreKind.MADE].merge(pooled.made)
        return {kind: renumbered(of_kind, numbers) for kind, of_kind in sums.items()}

    def _check_sums(self, kinds: Sequence[Counts]) -> None:
        self._same("sums: kinds", [each.kind for each in self._board.sums], [each.kind for each in kinds])
        for stored, kind in zip(self._board.sums, kinds, strict=True):
            for name in BoardSums.__dataclass_fields__.keys() - {"kind"}:
                self._equal(f"sums: {kind.kind}: {name}", getattr(stored, name), getattr(kind, name))

    def _check_counts(
        self, given: Sequence[_Given], numbers: Mapping[int, int], sums: Mapping[ScoreKind, Sums]
    ) -> None:
        """Compare what was counted of each bot."""
        luck: defaultdict[int, Luck] = defaultdict(Luck)
        played: defaultdict[int, list[int]] = defaultdict(list)
        for each in given:
            for player, deals in each.pooled.played.items():
                played[numbers[player]] += deals
            for player, own in each.pooled.luck.items() if each.line.beta is not None else ():
                whole = luck[numbers[player]]
                for name in BoardLuck.__dataclass_fields__:
                    setattr(whole, name, getattr(whole, name) + getattr(own, name))
        for number, bot in enumerate(self._board.bots, start=1):
            self._same(f"{bot.bot}: matches", bot.matches, len(played[number]))
            self._same(f"{bot.bot}: deals", bot.deals, sum(played[number]))
            own_luck = BoardLuck(**asdict(luck[number])) if number in luck else None
            self._same(f"{bot.bot}: luck", bot.luck, own_luck)
            right = [
                BoardScore(kind, score.deals, score.score)
                for kind, of_kind in sums.items()
                for score in [of_kind.scores.get(number)]
                if score is not None and score.deals
            ]
            self._same(
                f"{bot.bot}: scores: kinds",
                [(each.kind, each.deals) for each in bot.scores],
                [(each.kind, each.deals) for each in right],
            )
            for stored, each_score in zip(bot.scores, right, strict=True):
                self._equal(f"{bot.bot}: scores: {stored.kind}", stored.score, each_score.score)

    def _check_fit(self, fit: Fit, kinds: Sequence[Counts]) -> None:
        board = self._board
        assert board.fit is not None
        for name in ("deviation", "made_deviation", "spread", "gain"):
            self._close(f"fit: {name}", getattr(board.fit, name), getattr(fit, name))
        number_of = {bot.bot: number for number, bot in enumerate(board.bots, start=1)}
        baselines = {number_of[bot] for bot in board.baselines}
        rows = {row["version_id"]: row for row in board_rows(fit, kinds, baselines, {})}
        for number, bot in enumerate(board.bots, start=1):
            row = rows.get(number)
            right = None if row is None else board_strength(row, fit.deviation)
            self._same(f"{bot.bot}: strength: is there", bot.strength is not None, right is not None)
            if bot.strength is not None and right is not None:
                self._check_strength(bot, bot.strength, right)

    def _check_strength(self, bot: BoardBot, stored: BoardStrength, right: BoardStrength) -> None:
        for name in BoardStrength.__dataclass_fields__:
            where = f"{bot.bot}: strength: {name}"
            value, expected = getattr(stored, name), getattr(right, name)
            if name == "parts_after" and None not in (value, expected):
                self._close(where, value, expected, slack=1.0)
            elif isinstance(expected, float) and value is not None:
                self._close(where, value, expected)
            else:
                self._same(where, value, expected)

    # Comparing

    def _same(self, where: str, value: object, right: object) -> None:
        if value != right:
            raise _Wrong(f"{where}: is {_short(value)}, should be {_short(right)}")

    def _equal(self, where: str, value: float, right: float) -> None:
        """Compare sums, which may have been added in another order."""
        if not math.isclose(value, right, rel_tol=1e-9, abs_tol=1e-6):
            raise _Wrong(f"{where}: is {value!r}, should be {right!r}")

    def _close(self, where: str, value: float | None, right: float | None, slack: float = 0.0) -> None:
        """Compare figures, which are not computed alike on all machines."""
        if value is None or right is None:
            self._same(where, value, right)
        elif abs(value - right) > slack + self._near * max(1.0, abs(right)):
            raise _Wrong(f"{where}: is {value!r}, should be {right!r}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}…"


def _lines(bots: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the versions of each bot, oldest first; bots are numbered from 1."""
    lines: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, name in enumerate(bots, start=1):
        bot, _, version = name.rpartition("@")
        lines[bot].append((int(version) if version.isdecimal() else 0, number))
    return [[number for _, number in sorted(line)] for line in lines.values()]


def check_boards(boards: Sequence[tuple[str, Board]]) -> str | None:
    """Return the first contradiction between boards of one pool, given with their files; None without any."""
    for (file, board), (other_file, other) in combinations(boards, 2):
        if board.ruleset_hash == other.ruleset_hash:
            earlier, later = sorted((board, other), key=_age)
            contradiction = _contradiction(earlier, later)
            if contradiction is not None:
                return f"{file} and {other_file} are two boards of {board.ruleset}: {contradiction}"
    return None


def _age(board: Board) -> tuple[int, int]:
    return len(board.rounds), sum(line.beta is not None for line in board.rounds)


def _contradiction(earlier: Board, later: Board) -> str | None:
    commitments = {each.tournament: each.commitment for each in later.tournaments}
    for each in earlier.tournaments:
        if commitments.get(each.tournament) != each.commitment:
            return f"{each.tournament} is not the same tournament on both, or only on the earlier one"
    for line, same in zip(earlier.rounds, later.rounds, strict=False):
        for name in BoardRound.__dataclass_fields__:
            value, other = getattr(line, name), getattr(same, name)
            if value != other and value is not None:
                where = f"{line.tournament}, round {line.round}"
                return f"{where}: {name}: is {value} on one, and {other} on the other"
    if _age(earlier) == _age(later) and earlier.baselines == later.baselines:
        for bot, same_bot in zip(earlier.bots, later.bots, strict=False):
            if _differ(asdict(bot), asdict(same_bot)):
                return f"both are of the same rounds, and differ about {bot.bot}"
        if len(earlier.bots) != len(later.bots):
            return "both are of the same rounds, and have other bots"
    return None


def _differ(value: Any, other: Any) -> bool:
    """Return whether two bots, or values of them, are not equal but for rounding."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() != other.keys() or any(_differ(value[name], other[name]) for name in value)
    if isinstance(value, int | float) and isinstance(other, int | float):
        return abs(value - other) > NEAR_IN_LARGE * max(1.0, abs(other))
    return bool(value != other)
