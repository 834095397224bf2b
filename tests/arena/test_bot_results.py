"""Results of bots: profiles, histories, and who finished ahead of whom."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, permutations

import pytest
from sqlmodel import col, select

from arena.errors import UnknownError
from arena.host.settings import Settings
from arena.queries.histories import HistoryKind, HistoryLine, HistoryQuery, history
from arena.queries.leaderboards import leaderboard
from arena.queries.matches import MatchQuery, find_matches
from arena.queries.meetings import Met, crosstable
from arena.queries.profiles import profile
from arena.queries.versus import Verdict, VerdictKind, sentence, verdict, versus
from arena.results.strength.fitting import fit_due
from arena.store.models import BotVersion, FaultTally, Rating, RatingChange, Seat, Session, StrengthPoint
from referee.matches.kinds import FaultKind
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.world import World

BOT = "owner-0/bot-0@1"
OTHER = "owner-1/bot-1@1"
SECOND = "owner-0/bot-0@2"


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def deals(world: World) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Yield, for each deal, the points and the seats of its bots, from the sessions themselves."""
    with world.storage.read() as tx:
        names = dict(tx.exec(select(BotVersion.id, BotVersion.name)).all())
        seats = {(row.match_id, row.position): names[row.version_id] for row in tx.exec(select(Seat))}
        for session in tx.exec(select(Session).order_by(col(Session.id))):
            bots = [seats[session.match_id, position] for position in session.seating]
            for points in session.deal_points:
                yield dict(zip(bots, points, strict=True)), {bot: seat for seat, bot in enumerate(bots)}


def met(world: World, one: str, other: str) -> tuple[int, int, int, int]:
    """Return the numbers of deals with both bots, and with ``one`` ahead and behind, and its total lead."""
    leads = [points[one] - points[other] for points, _ in deals(world) if {one, other} <= points.keys()]
    return len(leads), sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads), sum(leads)


def counts(found: Met) -> tuple[int, int, int, int]:
    return found.deals, found.ahead, found.behind, found.lead


def test_profile_of_a_version_follows_from_its_deals(pool: World) -> None:
    found = profile(pool.storage, BOT)
    by_seat: dict[int, list[int]] = {}
    first: Counter[int] = Counter()
    for points, seats in deals(pool):
        if BOT in points:
            by_seat.setdefault(seats[BOT], []).append(points[BOT])
            first[seats[BOT]] += sorted(points.values())[-2] < points[BOT]
    assert [(one.seat, one.deals, one.points) for one in found.seats] == (
        [(seat, len(points), sum(points)) for seat, points in sorted(by_seat.items())]
    )
    assert all(one.mean == pytest.approx(one.points / one.deals) and one.plus_minus for one in found.seats)
    assert all(one.first >= first[one.seat] for one in found.seats)
    assert (found.bot, found.owner, found.language, found.link) == ("owner-0/bot-0", "owner-0", None, None)
    assert [one.bot for one in found.versions] == [BOT]
    assert found.pools == tuple(one for one in leaderboard(pool.storage).leaderboard if one.bot == BOT)
    assert found.matches == find_matches(pool.storage, MatchQuery(bot=BOT), 10).matches
    for line in found.opponents:
        assert counts(line.met) == met(pool, BOT, line.bot)
    assert all(one.met.deals >= other.met.deals for one, other in pairwise(found.opponents))
    assert len(profile(pool.storage, BOT, 2).opponents) == len(profile(pool.storage, BOT, 2).matches) == 2


def test_profile_of_a_bot_has_all_its_versions_together(pool: World) -> None:
    found = profile(pool.storage, "owner-0/bot-0")
    assert [one.bot for one in found.versions] == [SECOND, BOT]
    assert [one.bot for one in found.pools] == [SECOND, BOT]
    seats = [profile(pool.storage, one).seats for one in (BOT, SECOND)]
    assert sum(one.deals for one in found.seats) == sum(one.deals for both in seats for one in both)
    assert sum(one.points for one in found.seats) == sum(one.points for both in seats for one in both)


def test_profile_when_the_bot_made_faults_then_they_are_told_by_kind(pool: World) -> None:
    assert profile(pool.storage, BOT).faults == {}
    with pool.storage.write() as tx:
        ids = dict(tx.exec(select(BotVersion.name, BotVersion.id)).all())
        made = [(BOT, FaultKind.TIMEOUT, 2), (SECOND, FaultKind.TIMEOUT, 3), (BOT, FaultKind.ILLEGAL, 9)]
        for name, kind, count in made:
            tx.add(FaultTally(version_id=ids[name], ruleset_id=1, table_size=4, kind=kind, count=count))
    found = profile(pool.storage, "owner-0/bot-0").faults
    assert [*found.items()] == [("illegal", 9), ("timeout", 5)]


def test_profile_of_a_bot_that_has_not_played_is_there(arena: Arena, world: World) -> None:
    world.register(1)
    found = profile(world.storage, BOT)
    assert (found.pools, found.seats, found.faults, found.opponents, found.matches) == ((), (), {}, (), ())
    shown = arena("bot", "show", BOT)
    assert (shown.status, "nobody yet; for matches in which a bot forfeited" in shown.out) == (0, True)


def test_crosstable_when_bots_have_met_then_it_follows_from_their_deals(pool: World) -> None:
    bots = [BOT, OTHER, "owner-2/bot-2@1"]
    lines = crosstable(pool.storage, bots)
    assert [(line.bot, line.opponent) for line in lines] == [*permutations(bots, 2)]
    for line in lines:
        assert counts(line.met) == met(pool, line.bot, line.opponent)
    [both, _] = crosstable(pool.storage, ["owner-0/bot-0", OTHER])
    each = [met(pool, BOT, OTHER), met(pool, SECOND, OTHER)]
    assert counts(both.met) == tuple(map(sum, zip(*each, strict=True)))


def test_versus_when_both_have_met_then_all_views_agree(pool: World) -> None:
    found = versus(pool.storage, "owner-0/bot-0", OTHER)
    assert [(one.bot, one.opponent, counts(one.met)) for one in found.versions] == (
        [(name, OTHER, met(pool, name, OTHER)) for name in (SECOND, BOT)]
    )
    [in_pool] = found.pools
    assert (in_pool.ruleset, in_pool.table_size, in_pool.met) == ("chinese@1", 4, found.met)
    lines = {line.bot: line for line in leaderboard(pool.storage).leaderboard}
    assert in_pool.verdict is not None
    assert in_pool.verdict.kind == verdict(lines[SECOND], lines[OTHER]).kind
    asked = MatchQuery(bot="owner-0/bot-0", opponent=OTHER)
    assert found.matches == find_matches(pool.storage, asked, 10).matches
    assert counts(found.met) == tuple(
        sum(getattr(one, name) for one in found.seats) for name in ("deals", "ahead", "behind", "lead")
    )
    back = versus(pool.storage, OTHER, "owner-0/bot-0")
    assert (back.met.ahead, back.met.behind, back.met.lead) == (
        found.met.behind,
        found.met.ahead,
        -found.met.lead,
    )


@pytest.mark.parametrize(
    ("kind", "lead", "more", "words"),
    [
        (VerdictKind.APART, 3.0, None, "is ahead of owner-1/bot-1@1, by 3.00 ± 1.50 points a deal"),
        (
            VerdictKind.OPEN,
            0.5,
            1200,
            "the difference is 0.50 ± 1.50 points a deal; about 1,200 more deals of each",
        ),
        (VerdictKind.OPEN, 0.0, None, "that is too small for more deals to settle it"),
        (VerdictKind.STRANGERS, None, None, "have never met, not even indirectly"),
    ],
)
def test_verdict_when_it_is_told_then_it_says_how_certain_it_is(
    pool: World, kind: VerdictKind, lead: float | None, more: int | None, words: str
) -> None:
    lines = {line.bot: line for line in leaderboard(pool.storage).leaderboard}
    told = sentence(Verdict(kind, lines[BOT], lines[OTHER], lead, 1.5, more))
    assert words in told
    assert told.startswith(BOT)


def test_versus_at_the_command_line_then_it_says_whether_one_is_better(pool: World, arena: Arena) -> None:
    asked = ("bot", "versus", "owner-0/bot-0", OTHER)
    [in_pool] = arena(*asked, "--json").json["pools"]
    assert in_pool["verdict"]["kind"] == "unknown"
    fit_due(pool.storage, pool.clock())
    [in_pool] = arena(*asked, "--json").json["pools"]
    assert in_pool["verdict"]["kind"] in ("apart", "open")
    assert f"  chinese@1, tables of 4: {in_pool['verdict']['sentence']}\n" in arena(*asked).out


def test_versus_when_both_never_met_then_there_is_nothing(pool: World) -> None:
    pool.register(1)
    found = versus(pool.storage, OTHER, "owner-0/bot-0@3")
    assert (found.pools, found.versions, found.seats, found.matches) == ((), (), (), ())


def test_history_is_every_change_of_elo_and_of_the_strength_newest_first(pool: World) -> None:
    fit_due(pool.storage, pool.clock())
    lines = history(pool.storage, HistoryQuery("owner-0/bot-0"), 1000).history
    assert all(one.at >= other.at for one, other in pairwise(lines))
    with pool.storage.read() as tx:
        ids = {row.id: row.name for row in tx.exec(select(BotVersion)) if row.name in (BOT, SECOND)}
        ratings = [row.id for row in tx.exec(select(Rating)) if row.version_id in ids]
        changes = [row.after for row in tx.exec(select(RatingChange)) if row.rating_id in ratings]
        points = [row.deals for row in tx.exec(select(StrengthPoint)) if row.version_id in ids]
    assert sorted(one.rating for one in lines if one.rating is not None) == sorted(changes)
    assert sorted(one.deals for one in lines if one.deals is not None) == sorted(points)
    board = {line.bot: line for line in leaderboard(pool.storage).leaderboard}
    for name in (BOT, SECOND):
        elo = next(one for one in lines if one.bot == name and one.kind is HistoryKind.ELO)
        assert elo.rating == board[name].rating
        of_it = [one for one in lines if one.bot == name and one.kind is HistoryKind.ELO]
        assert sum(one.change or 0 for one in of_it) == pytest.approx(board[name].rating - 1500)


@pytest.mark.parametrize("kind", [None, *HistoryKind])
@pytest.mark.parametrize("size", [1, 4])
def test_history_when_it_is_read_in_pages_then_they_are_the_whole(
    pool: World, size: int, kind: HistoryKind | None
) -> None:
    fit_due(pool.storage, pool.clock())
    asked = HistoryQuery("owner-0/bot-0", kind=kind)
    whole = history(pool.storage, asked, 1000)
    assert {line.kind for line in whole.history} == ({*HistoryKind} if kind is None else {kind})
    found, cursor = list[HistoryLine](), None
    while True:
        page = history(pool.storage, asked, size, cursor)
        found += page.history
        cursor = page.next
        if cursor is None:
            break
    assert found == [*whole.history]


def test_history_when_the_pool_is_another_then_there_is_nothing_or_it_is_unknown(pool: World) -> None:
    assert history(pool.storage, HistoryQuery(BOT, ruleset="chinese", table_size=4)).history
    with pytest.raises(UnknownError, match="did you mean 'chinese'"):
        history(pool.storage, HistoryQuery(BOT, ruleset="chines"))


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["bot", "show", "owner-1/bot-7"], 1, "did you mean"),
        (["bot", "show", "owner"], 1, "neither owner/bot nor"),
        (["bot", "history", f"{BOT}1"], 1, "did you mean"),
        (["bot", "history", BOT, "--cursor", "W10"], 1, "cursor: "),
        (["bot", "versus", BOT, "owner-1/bt-1"], 1, "did you mean 'owner-1/bot-1'?"),
        (["bot", "versus", BOT, "owner-0/bot-0"], 1, "have a version in common"),
        (["crosstable", BOT, "owner-0/bot-0"], 1, "have a version in common"),
        (["crosstable", BOT], 1, "must have at least 2 items, not 1"),
        (["crosstable", BOT, OTHER, "--csv", "--json"], 2, "not both"),
        (["bot", "show", BOT, "--csv", "--json"], 2, "not both"),
        (["bot", "versus", BOT, OTHER, "--csv", "--json"], 2, "not both"),
        (["crosstable", *["a/b"] * 101], 1, "must have at most 100 items, not 101"),
    ],
)
def test_question_when_it_is_wrong_then_one_line_says_so(
    arena: Arena, pool: World, arguments: list[object], status: int, part: str
) -> None:
    assert_one_line(arena(*arguments), status, part)


def test_bot_show_has_every_part(arena: Arena, pool: World) -> None:
    arena("bot", "describe", "owner-0/bot-0", "--language", "go", "--link", "https://example.org/")
    shown = arena("bot", "show", BOT).out
    assert shown.startswith("owner-0/bot-0: go, https://example.org/\n")
    for part in ("Leaderboard: chinese@1", "By seat: chinese@1, tables of 4", "Met most", "Latest matches"):
        assert part in shown


def test_bot_versus_and_crosstable_show_the_same_counts(arena: Arena, pool: World) -> None:
    deals, ahead, behind, lead = met(pool, BOT, OTHER)
    shown = arena("bot", "versus", BOT, OTHER).out
    assert [*map(str, (deals, ahead, behind)), f"{lead:+d}"] in [
        line.split()[-4:] for line in shown.splitlines()
    ]
    assert f"{ahead}/{deals}" in arena("crosstable", BOT, OTHER).out
    [row, _] = csv.DictReader(io.StringIO(arena("crosstable", BOT, OTHER, "--csv").out))
    assert (row["bot"], row["opponent"], row["met.deals"], row["met.lead"]) == (
        BOT,
        OTHER,
        str(deals),
        str(lead),
    )


def test_bot_history_shows_matches_and_fits(arena: Arena, pool: World) -> None:
    shown = arena("bot", "history", BOT).out
    assert "cup/1/" in shown
    assert "chinese@1, 4" in shown
    rows = list(csv.DictReader(io.StringIO(arena("bot", "history", BOT, "--csv").out)))
    assert {row["kind"] for row in rows} == {"elo", "strength"}
    limited = arena("bot", "history", BOT, "--limit", 1, "--kind", "strength")
    assert (limited.status, limited.out.count(BOT)) == (0, 1)


def test_bot_show_as_csv_is_where_it_stands_and_versus_who_finished_before_whom(
    arena: Arena, pool: World
) -> None:
    shown, versus = (
        arena("bot", "show", BOT, "--json").json,
        arena("bot", "versus", BOT, OTHER, "--json").json,
    )
    standing = list(csv.DictReader(io.StringIO(arena("bot", "show", BOT, "--csv").out)))
    assert [(row["bot"], row["deals"]) for row in standing] == [
        (one["bot"], str(one["deals"])) for one in shown["pools"]
    ]
    met = list(csv.DictReader(io.StringIO(arena("bot", "versus", BOT, OTHER, "--csv").out)))
    assert [(row["ruleset"], row["met.deals"]) for row in met] == [
        (one["ruleset"], str(one["met"]["deals"])) for one in versus["pools"]
    ]
    assert standing
    assert met
