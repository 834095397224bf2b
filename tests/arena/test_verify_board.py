"""The board of a pool as a file: verified with the exports of its tournaments, and what is changed in it."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.bots import versions
from arena.core.canonical import json_line
from arena.host.settings import load_settings
from arena.jsonvalues import to_json
from arena.results.strength.fitting import fit_due
from arena.results.strength.pools import Pool, add_baselines
from arena.trust.exports.boards import board_digest
from arena.trust.exports.write_board import export_board
from arena.trust.verify import check_export
from arena.trust.verify.boards import BoardReport, check_board, check_boards
from arena.trust.verify.pooled import Numbers
from arena.trust.verify.report import Report
from referee.matches.match import MatchSpec, SessionResult
from referee.signing import SigningKey
from tests.arena.board_from_page import differences
from tests.arena.cli import make_arena
from tests.arena.databases import open_new
from tests.arena.exported import lines_of, play_by_table, with_new_digests
from tests.arena.fakes import DECISION_KEY, ROOT, Clock
from tests.arena.test_luck import weigh
from tests.arena.world import World, open_bots
from tests.referee.harness import Harness
from tests.referee.key import KEY
from tests.referee.test_forfeits import fail_when

POOL = Pool(1, 4)
TOURNAMENTS = ("one", "friendly", "two", "three", "four")
RATED = ("one", "two", "three", "four")


class Files(NamedTuple):
    """A pool's board, and the exports of the tournaments under its ruleset."""

    board: str
    earlier: str
    """The board before the last tournament."""
    exports: Mapping[str, list[str]]


def leaving(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """Play at a referee with bots of which the last answers illegally until it forfeits."""
    harness = Harness()
    bots = [harness.connect(bot.version_id, 2) for bot in spec.bots]
    match = harness.open(spec)
    yield from fail_when(harness, match, bots, lambda bot, turn: bot.number == bots[-1].number)


def board_of(world: World) -> str:
    return json_line(to_json(export_board(world.storage, POOL, DECISION_KEY)))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Play a pool: plain and duplicate rounds, forfeits, second versions, rounds that are not weighed."""
    folder = tmp_path_factory.mktemp("arena")
    with open_new(load_settings({"data": folder})) as storage:
        world = World(storage, Clock())
        bots = world.register(8, owners=8)
        world.finish(world.tournament_of(bots, name="one", deals=4, rounds=3).id, play_by_table)
        weigh(world)
        friendly: dict[str, Any] = {"name": "friendly", "rated": False, "sessions": 1}
        world.finish(world.tournament_of(bots[:4], **friendly).id, play_by_table)
        duplicate: dict[str, Any] = {"format": "swiss", "duplicate": True, "rounds": 2, "deals": 1}
        world.finish(world.tournament_of(bots, name="two", **duplicate).id, play_by_table)
        limits: dict[str, Any] = {"faults": 3, "decision_ms": 5000, "join_seconds": 10, "sessions": 6}
        world.finish(world.tournament_of(bots[:4], name="three", **limits).id, leaving)
        weigh(world)
        add_baselines(storage, ROOT, bots[2:4], world.clock())
        fit_due(storage, world.clock())
        earlier = board_of(world)
        for name in bots[:2]:
            versions.register_version(storage, ROOT, name.partition("@")[0], world.clock())
        open_bots(storage)
        second = [f"{name.partition('@')[0]}@2" for name in bots[:2]]
        world.finish(world.tournament_of([*second, *bots[2:]], name="four", rounds=2).id, play_by_table)
        fit_due(storage, world.clock())
        return Files(board_of(world), earlier, {name: lines_of(world, name) for name in TOURNAMENTS})


Change = Callable[[Any], object]


def checked(board: str, exports: Sequence[list[str]]) -> tuple[BoardReport, list[Report]]:
    numbers = Numbers()
    reports = [check_export((line.encode() for line in lines), pool=numbers) for lines in exports]
    assert [report.problem for report in reports] == [None] * len(reports)
    return check_board(board.encode(), reports, numbers)[0], reports


def signed_anew(board: str, change: Change, key: SigningKey = DECISION_KEY) -> str:
    """Change a board and sign it again, as an organiser with the arena's key can."""
    fields = json.loads(board)
    change(fields)
    fields["signed"] = key.sign(board_digest(fields))._asdict()
    return json_line(fields)


def given(files: Files, *names: str) -> list[list[str]]:
    return [files.exports[name] for name in names or TOURNAMENTS]


def test_board_when_all_exports_are_given_then_all_of_it_follows_from_them(files: Files) -> None:
    report, _ = checked(files.board, given(files))
    assert (report.problem, report.missing, report.left_open) == (None, [], [])
    assert (report.tournaments, report.bots) == (4, 10)
    board = json.loads(files.board)
    assert {each["kind"] for each in board["sums"]} == {"plain", "made", "duplicate"}
    assert any(each["forfeited"] for each in board["sums"])
    assert {line["beta"] for line in board["rounds"]} > {32, None}
    assert all(bot["strength"] for bot in board["bots"])


def test_board_when_the_latest_fit_is_older_then_it_is_fitted_anew(files: Files) -> None:
    report, _ = checked(files.earlier, given(files, "one", "two", "three", "friendly"))
    assert (report.problem, report.missing, report.left_open) == (None, [], [])
    later, _ = checked(files.earlier, given(files))
    assert later.problem is None
    assert later.left_open == [f"four, round {round}: was rated after the board was made" for round in (1, 2)]


@pytest.mark.parametrize("missing", RATED)
def test_board_when_an_export_is_not_given_then_it_says_what_that_leaves_open(
    files: Files, missing: str
) -> None:
    report, _ = checked(files.board, given(files, *(name for name in RATED if name != missing)))
    assert (report.problem, report.missing) == (None, [missing])
    assert any(line.startswith("sums, strengths, intervals") for line in report.left_open)


def test_board_when_no_export_is_given_then_only_its_form_is_checked(files: Files) -> None:
    report, _ = checked(files.board, [])
    assert (report.problem, report.missing) == (None, [*RATED])
    assert "that the key is the arena's: no head of an export names it" in report.left_open


def first(board: Any, name: str = "") -> Any:
    """Return the first bot, or its strength."""
    bot = board["bots"][0]
    return bot[name] if name else bot


def leave_out(board: Any, tournament: str, *, renumber: bool) -> None:
    """Leave a tournament out of a board."""
    gone = [line for line in board["rounds"] if line["tournament"] == tournament]
    board["rounds"] = [line for line in board["rounds"] if line["tournament"] != tournament]
    board["tournaments"] = [each for each in board["tournaments"] if each["tournament"] != tournament]
    for line in board["rounds"] if renumber else ():
        if line["rated_after"] > gone[0]["rated_after"]:
            line["rated_after"] -= sum(each["matches"] for each in gone)


def more(name: str, by: float) -> tuple[Change, str]:
    """Return a forgery of a figure of a strength, and what should be said of it."""

    def change(board: Any) -> None:
        first(board, "strength")[name] += by

    return change, f"strength: {name}: is"


FORGERIES: dict[str, tuple[Change, str]] = {
    **{name: more(name, 1e-3) for name in ("value", "error", "ahead", "ahead_low", "ahead_high")},
    **{name: more(name, 1) for name in ("rank", "best", "worst", "tier", "group")},
    "deals of a strength": more("deals", 1),
    "strength: anchored": (
        lambda b: first(b, "strength").update(anchored=False),
        "strength: anchored: is False",
    ),
    "strength: above": (lambda b: first(b, "strength").update(above=9.0), "strength: figure: is"),
    "figure": (lambda b: first(b, "strength").update(figure=1900.0), "strength: figure: is 1900.0"),
    "strength: above_error": (lambda b: first(b, "strength").update(above_error=9.0), "strength: low: is"),
    "figure_low": (lambda b: first(b, "strength").update(figure_low=1900.0), "strength: low: is 1900.0"),
    "parts_after": (lambda b: first(b, "strength").update(parts_after=3), "strength: parts_after: is 3"),
    "a strength left out": (lambda b: first(b).update(strength=None), "strength: is there: is False"),
    "rating": (lambda b: first(b).update(rating=1700.0), "rating: is 1700.0"),
    "since": (lambda b: first(b)["since"].update(tournament="one"), "since: it was"),
    "matches": (lambda b: first(b).update(matches=99), "matches: is 99"),
    "deals": (lambda b: first(b).update(deals=99), "deals: is 99"),
    "luck": (lambda b: first(b, "luck").update(expected=0), "luck: is"),
    "score": (lambda b: first(b, "scores")[0].update(score=0.5), "scores: "),
    "sums": (lambda b: b["sums"][1].update(within=1.0), "sums: made: within: is 1.0"),
    "a kind of sums": (lambda b: b["sums"].pop(), "sums: kinds: is"),
    "fit": (lambda b: b["fit"].update(spread=3.0), "fit: spread: is 3.0"),
    "a bot": (lambda b: b["bots"].pop(), "one that played in"),
    "a bot twice": (lambda b: b["bots"].append(first(b)), "bots: one is there twice"),
    "baselines": (lambda b: b["baselines"].pop(), "is"),
    "a stranger as baseline": (lambda b: b["baselines"].append("no/body@1"), "baselines: one is not"),
    "beta by 1": (lambda b: b["rounds"][-3].update(beta=b["rounds"][-3]["beta"] + 1), "beta: is"),
    "beta everywhere": (
        lambda b: [line.update(beta=1000) for line in b["rounds"] if line["beta"]],
        "beta: is 1000",
    ),
    "beta null": (lambda b: b["rounds"][0].update(beta=None, beta_after=None, references=None), ""),
    "beta alone null": (lambda b: b["rounds"][0].update(beta=None), "are not all there"),
    "beta_after": (lambda b: b["rounds"][-3].update(beta_after=1), "beta_after: is 1"),
    "references": (lambda b: b["rounds"][0].update(references="0" * 64), "the reference parts of the export"),
    "results": (lambda b: b["rounds"][1].update(results="0" * 64), "one, round 2: results: is 000"),
    "a tournament": (
        lambda b: leave_out(b, "three", renumber=False),
        "a tournament was left out of the pool",
    ),
    "a tournament, renumbered": (
        lambda b: leave_out(b, "one", renumber=True),
        "rated_after: is 0 on the board",
    ),
    "the last tournament": (lambda b: leave_out(b, "four", renumber=True), "since: is no round of the board"),
    "a round": (lambda b: b["rounds"].pop(1), "a tournament was left out of the pool"),
    "a round twice": (lambda b: b["rounds"].append(b["rounds"][-1]), "rounds: one is there twice"),
    "commitment": (lambda b: b["tournaments"][0].update(commitment="0" * 64), "one has the commitment 000"),
    "a name": (lambda b: b["tournaments"][0].update(tournament="uno"), "tournaments: names: is"),
    "a field more": (lambda b: b.update(more=1), "more: "),
    "a field less": (lambda b: b.pop("ruleset"), "ruleset: "),
    "format": (lambda b: b.update(format="bigtwo-board/2"), "format: "),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_board_when_it_is_forged_and_signed_again_then_verify_names_it(files: Files, name: str) -> None:
    change, expected = FORGERIES[name]
    forged = signed_anew(files.board, change)
    assert forged != files.board
    problem = checked_once(forged, files)
    assert problem is not None
    assert expected in problem


def checked_once(board: str, files: Files) -> str | None:
    """Return the problem of a board with all exports, which are read only once."""
    numbers, reports = reports_of(tuple(map(tuple, given(files))))
    return check_board(board.encode(), reports, numbers)[0].problem


@cache
def reports_of(exports: tuple[tuple[str, ...], ...]) -> tuple[Numbers, list[Report]]:
    numbers = Numbers()
    return numbers, [check_export((line.encode() for line in lines), pool=numbers) for lines in exports]


def test_board_when_it_is_changed_without_the_key_then_its_digest_or_signature_says_so(files: Files) -> None:
    fields = json.loads(files.board)
    fields["bots"][0]["rating"] = 1700.0
    assert "signed.digest: is not that of the board" in str(checked_once(json_line(fields), files))
    fields["signed"]["digest"] = board_digest(fields)
    assert checked_once(json_line(fields), files) == "signed: the signature is not that of the key"
    other = signed_anew(files.board, lambda _: None, SigningKey.draw())
    assert "is the decision_key of none of the tournaments" in str(checked_once(other, files))


def references(lines: list[str], change: Change) -> list[str]:
    """Change the ``reference`` parts of an export, and recompute digests and signatures."""
    objects = [json.loads(line) for line in lines]
    for part in objects:
        if part.get("part") == "reference":
            change(part)
    return with_new_digests([json_line(each) for each in objects if each.get("digest") != ""], KEY)


def shorten(part: Any) -> None:
    part["sessions"] = part["sessions"][1:]


REFERENCES: dict[str, Change] = {
    "removed": lambda part: part.update(digest=""),
    "one session left out": shorten,
    "empty": lambda part: part.update(sessions=[]),
    "beta by 1": lambda part: part.update(beta=part["beta"] + (part["beta_after"] >= 50)),
    "beta null": lambda part: part.update(beta=None, beta_after=None),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_export_when_its_reference_parts_are_forged_then_its_board_names_it(files: Files, name: str) -> None:
    two = name.startswith("beta")
    forged = references(files.exports["three" if two else "one"], REFERENCES[name])
    others = [lines for each, lines in files.exports.items() if each != ("three" if two else "one")]
    report, _ = checked(files.board, [forged, *others])
    assert "the reference parts of the export are not those of the board" in str(report.problem)


def test_export_when_beta_is_out_of_range_or_follows_from_few_deals_then_it_is_wrong_alone(
    files: Files,
) -> None:
    for forged in (
        references(files.exports["one"], lambda part: part.update(beta=1000)),
        references(files.exports["one"], lambda part: part.update(beta=33)),
    ):
        problem = check_export(line.encode() for line in forged).problem
        assert "beta" in str(problem)


def test_export_when_beta_of_an_unrated_tournament_is_forged_then_the_board_names_it(files: Files) -> None:
    forged = references(files.exports["friendly"], lambda part: part.update(beta=part["beta"] + 1))
    report, _ = checked(files.board, [forged, *given(files, *RATED)])
    assert str(report.problem).startswith("friendly, round 1: beta: is")


def test_boards_when_two_of_one_pool_contradict_each_other_then_that_is_named(files: Files) -> None:
    def contradiction(one: str, other: str) -> str | None:
        boards = [check_board(text.encode(), [], Numbers())[1] for text in (one, other)]
        return check_boards([(name, board) for name, board in zip("ab", boards, strict=True) if board])

    assert contradiction(files.board, files.board) is None
    assert contradiction(files.board, files.earlier) is None
    rated = signed_anew(files.board, lambda board: first(board).update(rating=1600.0))
    assert "a and b are two boards of chinese@1: both are of the same rounds" in str(
        contradiction(files.board, rated)
    )
    beta = signed_anew(files.earlier, lambda board: board["rounds"][0].update(beta=33))
    assert "one, round 1: beta: is 33 on one, and 32 on the other" in str(contradiction(files.board, beta))
    gone = signed_anew(files.board, lambda board: leave_out(board, "three", renumber=True))
    assert "three is not the same tournament on both" in str(contradiction(files.earlier, gone))


def test_command_when_a_board_is_exported_then_verify_checks_it_with_the_exports(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(tmp_path / "arena", capsys)
    world.finish(world.tournament(4, sessions=1).id, play_by_table)
    board, cup = tmp_path / "board.json", tmp_path / "cup.jsonl"
    assert arena("rating", "export", "--output", board).out == (
        f"chinese@1: 4 bots and 1 rounds written to {board}\n"
    )
    arena("export", "cup", "--output", cup)
    found = arena("verify", board, cup)
    assert found.status == 0, found
    assert f"{board}: ok: the board of chinese@1, tables of 4: all of 4 bots follows from" in found.out
    alone = arena("verify", board)
    assert alone.status == 0
    assert "  not given: cup\n" in alone.out
    as_json = arena("verify", board, cup, "--json").json
    assert (as_json["boards"][0]["ok"], as_json["files"][0]["ok"]) == (True, True)
    board.write_text(signed_anew(board.read_text(), lambda each: first(each).update(rating=1.0)))
    assert arena("verify", board, cup).status == 1


def test_page_when_a_program_is_written_from_it_then_it_finds_the_board_right_and_forgeries_wrong(
    files: Files,
) -> None:
    assert [*differences(files.board, files.exports)] == []

    def found(change: Change) -> list[str]:
        return [*differences(signed_anew(files.board, change), files.exports)]

    assert found(lambda board: board["rounds"][-3].update(beta=99))[:2] == [
        "three, round 1: beta of its parts",
        "three, round 1: beta",
    ]
    assert found(lambda board: board["sums"][0].update(within=1.0)) == ["sums: plain: within"]
    assert found(lambda board: first(board, "luck").update(product=1)) == ["owner-0/bot-0@1: luck"]
    assert found(lambda board: first(board, "strength").update(figure=1.0)) == ["owner-0/bot-0@1: figure"]
    assert found(lambda board: leave_out(board, "three", renumber=True)) == ["rounds"]
