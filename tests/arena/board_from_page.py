"""A check of boards as docs/formats.md specifies them, written from that page alone.

It shares no code with the arena, and is compared with it (``test_verify_board``). It checks all but the fit
of strengths, of which ``second_fit`` is a second implementation: digests, the signature, the order of rounds,
beta, sums, scores, luck, and the figures that follow from strengths.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from math import erfc, floor, isclose, log10, sqrt
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Object = dict[str, Any]
Points = Sequence[Sequence[Fraction]]


def joined(digests: Iterable[str]) -> str:
    return sha256("".join(digests).encode()).hexdigest()


def nearest(value: Fraction) -> int:
    """Return the nearest whole number, from the middle the even one."""
    return round(value)


class Session:
    """A session of an export, with the records of its deals."""

    def __init__(self, line: Object, records: Sequence[Object], worth: Sequence[Sequence[int]]) -> None:
        self.line, self.records, self.worth = line, records, worth
        last = records[-1]
        gone = [at for at, record in enumerate(records) if record.get("played_for") or "forfeit" in record]
        self.clean: int = min(gone, default=len(records))
        """How many deals all bots played to the end."""
        self.leaver: int | None = None
        if last.get("played_for"):
            first = last["played_for"][0]
            if not (first["why"] == "absent" and first["deal"] == 1):
                self.leaver = first["seat"]
        elif "forfeit" in last and not ("absent" in last and len(records) == 1):
            self.leaver = last["forfeit"]

    @property
    def left(self) -> range:
        """The deals that count for the bot that left alone."""
        return range(self.clean, len(self.records)) if self.leaver is not None else range(0)


class Match:
    def __init__(self, part: Object) -> None:
        self.part = part
        self.reference: Object | None = None
        self.sessions: list[Session] = []


class Round:
    def __init__(self, part: Object, tournament: str, duplicate: bool) -> None:
        self.part, self.tournament, self.duplicate = part, tournament, duplicate
        self.matches: list[Match] = []
        self.end: Object = {}


def rounds_of(lines: Sequence[str]) -> Iterator[Round]:
    """Yield the rounds of an export that have ended, with their matches that are done."""
    parts = [json.loads(line) for line in lines]
    head, at = parts[0], 0
    current: Round | None = None
    while at < len(parts):
        part = parts[at]
        at += 1
        if part.get("part") == "round":
            current = Round(part, head["tournament"], head["duplicate"])
        elif part.get("part") == "match" and current is not None:
            match, of_session = Match(part), []
            for line in part["sessions"]:
                of_session.append((line, parts[at : at + line["deals"]]))
                at += line["deals"]
            if at < len(parts) and parts[at].get("part") == "reference":
                match.reference = parts[at]
                at += 1
            worth = {
                each["session"]: each["worth"] for each in (match.reference or {"sessions": ()})["sessions"]
            }
            match.sessions = [Session(*pair, worth.get(pair[0]["session"], ())) for pair in of_session]
            if part["state"] == "done":
                current.matches.append(match)
        elif part.get("part") == "round_end" and current is not None:
            current.end = part
            yield current


class Pool:
    """What the rounds of a board come to."""

    def __init__(self) -> None:
        self.sums: dict[str, defaultdict[str, Fraction]] = {
            kind: defaultdict(Fraction) for kind in ("plain", "made", "duplicate")
        }
        self.scores: defaultdict[tuple[str, str], list[Fraction]] = defaultdict(
            lambda: [Fraction(), Fraction()]
        )
        """By bot and kind, deals and score."""
        self.luck: defaultdict[str, list[int]] = defaultdict(lambda: [0] * 6)
        self.counted: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        """By bot, matches and deals."""
        self.slope = [0, 0, 0]
        """Deals, cards and product."""

    def beta(self) -> int:
        deals, cards, product = self.slope
        if deals < 50 or not cards:
            return 32
        return min(max(floor(Fraction(8192 * product + cards, 2 * cards)), 0), 128)

    def take_in(self, round: Round) -> None:
        """Add the deals of a round to those from which beta follows."""
        for match in round.matches:
            parts = match.reference["parts"] if match.reference else 1
            for session in match.sessions:
                for at in range(min(session.clean, len(session.worth))):
                    points = session.records[at]["points"]
                    n, c = len(points), [64 * own // parts for own in session.worth[at]]
                    self.slope[0] += 1
                    self.slope[1] += n * sum(each * each for each in c) - sum(c) ** 2
                    both = sum(each * own for each, own in zip(c, points, strict=True))
                    self.slope[2] += n * both - sum(c) * sum(points)

    def add(self, round: Round, beta: int | None) -> None:
        for match in round.matches:
            for bot in match.part["bots"]:
                self.counted[bot][0] += 1
                self.counted[bot][1] += sum(len(session.records) for session in match.sessions)
            self._add_match(round, match, beta)
            if beta is not None:
                self._add_luck(match, beta)

    def _add_match(self, round: Round, match: Match, beta: int | None) -> None:
        sessions = match.sessions
        known = all(len(session.worth) >= session.clean + len(session.left) for session in sessions)
        made = beta is not None and known and not round.duplicate
        kind = "made" if made else "duplicate" if round.duplicate else "plain"
        sums, bots = self.sums[kind], match.part["bots"]
        raw: list[list[Fraction]] = []
        deals: list[list[Fraction]] = []
        for session in sessions:
            sums["forfeited"] += len(session.left)
            for at in range(session.clean):
                points = [Fraction(own) for own in session.records[at]["points"]]
                scores: list[Fraction] | None = points
                if round.duplicate:
                    scores = duplicate_scores(round, match, session, at)
                elif made and match.reference is not None and beta is not None:
                    shares = expected(session.worth[at], match.reference["parts"], beta)
                    scores = [own - Fraction(share, 64) for own, share in zip(points, shares, strict=True)]
                if scores is not None:
                    deals.append(by_place(session, scores))
                    raw.append(by_place(session, points))
        if not deals:
            return
        sums["matches"] += 1
        sums["deals"] += len(deals)
        for place, bot in enumerate(bots):
            within, between, score = spread(deals, place)
            sums["within"] += within
            sums["between"] += between
            own = self.scores[bot, kind]
            own[0] += len(deals)
            own[1] += score
            if made:
                within, between, _ = spread(raw, place)
                sums["raw_within"] += within
                sums["raw_between"] += between

    def _add_luck(self, match: Match, beta: int) -> None:
        for session in match.sessions:
            for at in range(min(len(session.worth), len(session.records))):
                if at >= session.clean and at not in session.left:
                    continue
                points = session.records[at]["points"]
                parts = match.reference["parts"] if match.reference else 1
                above, shares = expected(points, 1, 64), expected(session.worth[at], parts, beta)
                for seat, (a, e) in enumerate(zip(above, shares, strict=True)):
                    if at < session.clean or seat == session.leaver:
                        own = self.luck[match.part["bots"][session.line["seating"][seat]]]
                        for index, more in enumerate((1, a, a * a, e, e * e, a * e)):
                            own[index] += more


def expected(worth: Sequence[int], parts: int, beta: int) -> list[int]:
    n = len(worth)
    return [nearest(Fraction(beta * (n * own - sum(worth)), parts * n)) for own in worth]


def by_place(session: Session, values: Sequence[Fraction]) -> list[Fraction]:
    """Return values by seat less their mean, by place."""
    placed = [Fraction()] * len(values)
    for place, value in zip(session.line["seating"], values, strict=True):
        placed[place] = value - sum(values, Fraction()) / len(values)
    return placed


def spread(deals: Points, place: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return what a bot adds to ``within``, ``between`` and its score."""
    own = [deal[place] for deal in deals]
    total = sum(own, Fraction())
    squares = sum((value * value for value in own), Fraction())
    return squares - total**2 / len(own), total**2 / len(own), total


def duplicate_scores(round: Round, match: Match, session: Session, at: int) -> list[Fraction] | None:
    """Return the scores of a deal at a clean table; None if it is fouled."""
    number = session.line["session"]
    same = [
        (other, each) for other in round.matches for each in other.sessions if each.line["session"] == number
    ]
    reached = [each for _, each in same if at < len(each.records) or each.line["forfeit"] is not None]
    points = [Fraction(own) for own in session.records[at]["points"]]
    if len(reached) == 1:
        return points
    attempt = session.records[at].get("attempt", 1)
    beside = [
        each.records[at]["points"]
        for other, each in same
        if other is not match and at < each.clean and each.records[at].get("attempt", 1) == attempt
    ]
    if not beside:
        return None
    means = [Fraction(sum(column), len(beside)) for column in zip(*beside, strict=True)]
    return [own - mean for own, mean in zip(points, means, strict=True)]


def figure(t: float, s: float) -> float:
    far = max(-8.0, min(8.0, t * sqrt(40) / (s * sqrt(2))))
    return 1500 + 400 * (log10(erfc(-far / sqrt(2)) / 2) - log10(erfc(far / sqrt(2)) / 2))


def differences(text: str, exports: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what is wrong with a board, given the exports of all its tournaments by name."""
    board: Object = json.loads(text)
    signed = board["signed"]
    plain = {name: value for name, value in board.items() if name != "signed"}
    if (
        sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        != signed["digest"]
    ):
        yield "digest"
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed["key"]))
    key.verify(bytes.fromhex(signed["signature"]), bytes.fromhex(signed["digest"]))
    if not any(json.loads(lines[0])["decision_key"] == signed["key"] for lines in exports.values()):
        yield "key"
    for each in board["tournaments"]:
        if json.loads(exports[each["tournament"]][0])["digest"] != each["commitment"]:
            yield f"commitment of {each['tournament']}"
    there = {
        (round.tournament, round.part["round"]): round
        for lines in exports.values()
        for round in rounds_of(lines)
    }
    rated = {place for place, round in there.items() if round.end["rated_after"] is not None}
    if rated != {(line["tournament"], line["round"]) for line in board["rounds"]}:
        yield "rounds"
        return
    yield from _rounds(board, there)
    yield from _sums(board, there)


def _rounds(board: Object, there: Mapping[tuple[str, int], Round]) -> Iterator[str]:
    after = 0
    for line in board["rounds"]:
        where, round = (
            f"{line['tournament']}, round {line['round']}",
            there[line["tournament"], line["round"]],
        )
        if line["rated_after"] != after or round.end["rated_after"] != after:
            yield f"{where}: rated_after"
        after += line["matches"]
        if line["matches"] != len(round.matches):
            yield f"{where}: matches"
        sessions = (each for match in round.matches for each in match.sessions)
        if line["results"] != joined(each.line["signed"]["digest"] for each in sessions):
            yield f"{where}: results"
        if line["beta"] is not None:
            parts = [match.reference for match in round.matches if match.reference is not None]
            if line["references"] != joined(part["digest"] for part in parts):
                yield f"{where}: references"
            if any(
                (part["beta"], part["beta_after"]) != (line["beta"], line["beta_after"]) for part in parts
            ):
                yield f"{where}: beta of its parts"


def _sums(board: Object, there: Mapping[tuple[str, int], Round]) -> Iterator[str]:
    pool = Pool()
    weighed = [line for line in board["rounds"] if line["beta"] is not None]

    def adds(line: Object) -> int:
        trial = Pool()
        trial.take_in(there[line["tournament"], line["round"]])
        return trial.slope[0]

    for line in sorted(weighed, key=lambda line: (line["beta_after"], adds(line))):
        if (line["beta_after"], line["beta"]) != (pool.slope[0], pool.beta()):
            yield f"{line['tournament']}, round {line['round']}: beta"
        pool.take_in(there[line["tournament"], line["round"]])
    for line in board["rounds"]:
        pool.add(there[line["tournament"], line["round"]], line["beta"])
    kinds = [kind for kind, sums in pool.sums.items() if sums["matches"] or sums["forfeited"]]
    if [each["kind"] for each in board["sums"]] != kinds:
        yield "sums: kinds"
        return
    for each in board["sums"]:
        for name in each.keys() - {"kind"}:
            if not close(each[name], pool.sums[each["kind"]][name]):
                yield f"sums: {each['kind']}: {name}"
    for bot in board["bots"]:
        yield from _bot(board, bot, pool)


def _bot(board: Object, bot: Object, pool: Pool) -> Iterator[str]:
    name = bot["bot"]
    if [bot["matches"], bot["deals"]] != pool.counted[name]:
        yield f"{name}: matches"
    for score in bot["scores"]:
        deals, right = pool.scores[name, score["kind"]]
        if score["deals"] != deals or not close(score["score"], right):
            yield f"{name}: scores"
    names = ("deals", "points", "squares", "expected", "expected_squares", "product")
    if bot["luck"] is not None and [bot["luck"][each] for each in names] != pool.luck[name]:
        yield f"{name}: luck"
    if bot["strength"] is not None:
        own, s = bot["strength"], board["fit"]["deviation"]
        for off, at in ((0.0, "figure"), (-1.96, "figure_low"), (1.96, "figure_high")):
            if not isclose(own[at], figure(own["above"] + off * own["above_error"], s), rel_tol=1e-6):
                yield f"{name}: {at}"


def close(value: float, right: Fraction) -> bool:
    return isclose(value, float(right), rel_tol=1e-9, abs_tol=1e-6)
