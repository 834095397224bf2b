"""Making the steps of a deal by replaying its record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena.queries.replays import words
from arena.queries.replays.steps import (
    MOST_LISTED,
    Answer,
    Cards,
    Fault,
    Kind,
    Options,
    Replay,
    Step,
    Words,
    in_order,
)
from referee.deals.action import Stage
from referee.deals.scoring import penalty
from referee.records.reading import Record, read_record
from referee.records.record import parse_action
from referee.records.replay import carry_out, is_played_for, start
from referee.ruleset.axes.scoring import SETTLED_BY_PENALTIES


def make_replay(source: Mapping[str, Any]) -> Replay:
    """Return the deal of a record, step by step. Raise RecordError if the record is invalid."""
    record = read_record(source)
    maker = _Maker(source, record)
    return Replay(
        record=source,
        ruleset=record.rules.ruleset.label,
        seats=tuple(record.seats),
        short=maker.names,
        clockwise=record.step == 1,
        dealer=record.dealer,
        points=tuple(record.points),
        steps=maker.make(),
    )


class _Maker:
    """Replays a deal and collects its steps."""

    def __init__(self, source: Mapping[str, Any], record: Record) -> None:
        self.names = words.short_names(record.seats)
        self._source, self._record = source, record
        self._rules = record.rules
        self._deal = start(record, None)
        self._ms = _times(source, "ms")
        self._credits = _times(source, "credit_ms")
        self._steps: list[Step] = []
        self._trick = 0
        self._fresh = True
        """Whether the next play begins a trick."""

    def make(self) -> tuple[Step, ...]:
        """Return all steps."""
        self._open()
        for index, text in enumerate(self._record.actions):
            self._act(index, text)
        self._close()
        return tuple(self._steps)

    # The beginning and the end

    def _open(self) -> None:
        deal, dealt = self._deal, self._deal.dealt
        sentence = words.dealt_words(self.names, deal.dealer, list(map(int.bit_count, dealt)))
        self._note(Step(0, Kind.DEALT, deal.dealer, self._texts(dealt), words=sentence), dealt)
        for seat, (first, opening) in enumerate(zip(dealt, deal.opening, strict=True)):
            if first != opening:
                self._take(seat, self._rules.remove(opening, first))
        if deal.exchange is not None and deal.stage is not Stage.EXCHANGE:
            self._exchange()
        self._note_owing(deal.owing())

    def _take(self, seat: int, mask: int) -> None:
        cards = in_order(self._rules, mask)
        sentence, hidden = words.take_words(self.names[seat], cards)
        is_open = self._rules.ruleset.leftover_shown
        step = Step(
            *(0, Kind.TAKE, seat, self._texts(self._deal.opening), cards),
            knows=None if is_open else (seat,),
            words=sentence,
            hidden_words=() if is_open else hidden,
        )
        self._note(step, self._deal.opening)

    def _exchange(self) -> None:
        exchange, rules = self._deal.exchange, self._rules
        assert exchange is not None
        between = list(self._deal.opening)
        between[exchange.loser] = rules.remove(between[exchange.loser], exchange.given)
        between[exchange.winner] = rules.add(between[exchange.winner], exchange.given)
        knows = (exchange.loser, exchange.winner)
        given, returned = in_order(rules, exchange.given), in_order(rules, exchange.returned)
        loser, winner = self.names[exchange.loser], self.names[exchange.winner]
        sentence, hidden = words.exchange_words(loser, winner, given, returned=False)
        hands = self._texts(between)
        step = Step(
            0, Kind.GIVE, exchange.loser, hands, given, knows=knows, words=sentence, hidden_words=hidden
        )
        self._note(step, between)
        held = rules.cards(between[exchange.winner])
        distinct = [(text,) for text in dict.fromkeys(hands[exchange.winner])]
        options = Options(len(set(held)), tuple(distinct[:MOST_LISTED]), may_pass=False)
        faults = tuple(_fault(fault) for fault in self._record.faults if fault.get("turn") == "exchange")
        ms, credit = self._exchange_times()
        sentence, hidden = words.exchange_words(winner, loser, returned, returned=True)
        telling = words.fault_words(self.names, faults)
        step = Step(
            *(0, Kind.RETURN, exchange.winner, self._texts(self._deal.start), returned),
            options=options,
            ms=ms,
            credit_ms=credit,
            faults=faults,
            knows=knows,
            words=sentence + telling,
            hidden_words=hidden + telling,
        )
        self._note(step, self._deal.start)

    def _exchange_times(self) -> tuple[int | None, int]:
        for answer in self._source.get("answers", ()):
            if answer["turn"] == "exchange":
                return answer["ms"], answer["credit_ms"]
        return None, 0

    def _close(self) -> None:
        deal, record = self._deal, self._record
        index = len(record.actions)
        faults = self._faults(index)
        if record.forfeit is not None:
            deal.forfeit(record.forfeit)
        sentence = words.fault_words(self.names, faults)
        if record.forfeit is not None:
            sentence += (f" {self.names[record.forfeit]} forfeits the session.",)
        hands = self._texts(deal.left)
        step = Step(
            *(0, Kind.END, None, hands),
            trick=self._trick,
            faults=faults,
            answers=self._answers(index),
            points=tuple(record.points),
            words=words.end_words(self.names, record.end, hands, record.points) + sentence,
        )
        self._note(step, deal.left)

    # Actions

    def _act(self, index: int, text: str) -> None:
        deal = self._deal
        action = parse_action(self._rules, text)
        if deal.stage is Stage.BOMBS and not action.out_of_turn:
            for seat in deal.owing():
                deal.act(seat, 0)
        leading, before = not deal.to_beat, self._to_beat()
        last = action.seat if action.cards else deal.last_seat
        options = self._options(action.seat)
        forced = deal.stage is not Stage.BOMBS and options.count + options.may_pass == 1
        forced = forced and self._ms.get(index) is None
        carry_out(deal, index, text)
        if self._fresh:
            self._trick, self._fresh = self._trick + 1, False
        won = not deal.over and not deal.to_beat and not (leading and not action.cards)
        self._fresh = won
        kind = Kind.PASS if not action.cards else Kind.BOMB if action.out_of_turn else Kind.PLAY
        cards, drawn = in_order(self._rules, action.cards), in_order(self._rules, deal.log[-1][2])
        faults = self._faults(index)
        step = Step(
            *(0, kind, action.seat, self._texts(deal.hands), cards),
            drawn=drawn,
            combination=self._called(action.cards),
            trick=self._trick,
            options=options,
            forced=forced,
            folded=forced and kind is Kind.PASS and not (leading or drawn or faults),
            bomb=bool(action.cards) and self._rules.is_bomb(self._rules.code(action.cards)),
            ms=self._ms.get(index),
            credit_ms=self._credits.get(index, 0),
            faults=faults,
            played_for=self._played_for(index, action.seat),
            answers=self._answers(index),
            asked=deal.owing(),
            won_by=last if won else None,
        )
        self._note(self._with_words(step, before, leading), deal.hands)

    def _with_words(self, step: Step, before: tuple[str, Cards] | None, leading: bool) -> Step:
        """Return the step of an action with its sentence."""
        assert step.seat is not None
        name = self.names[step.seat]
        hidden: Words = ()
        if step.kind is Kind.PASS:
            locks = self._rules.ruleset.pass_locks
            sentence, hidden = words.pass_words(name, step, locks, leading)
        else:
            out = self._deal.out
            place = out.index(step.seat) + 1 if step.seat in out else 0
            sentence = words.play_words(name, step, before, place)
        more = words.fault_words(self.names, step.faults)
        if step.played_for:
            more += (f" {name} has forfeited the session: {words.DONE_FOR[step.played_for]}.",)
        if step.won_by is not None:
            more += (f" {self.names[step.won_by]} wins the trick.",)
        knows = (step.seat,) if hidden else None
        return replace(step, words=sentence + more, hidden_words=hidden + more if hidden else (), knows=knows)

    def _to_beat(self) -> tuple[str, Cards] | None:
        mask = self._deal.to_beat & self._rules.full
        return (self._called(mask), in_order(self._rules, mask)) if mask else None

    def _called(self, mask: int) -> str:
        if not mask:
            return ""
        return words.combination(self._rules.kind(self._rules.code(mask)), in_order(self._rules, mask))

    def _options(self, seat: int) -> Options:
        deal, rules = self._deal, self._rules
        legal = deal.legal(seat)
        listed = tuple([in_order(rules, code & rules.full) for code in legal[:MOST_LISTED]])
        return Options(len(legal), listed, deal.can_pass(seat))

    # What the record says of an action

    def _faults(self, index: int) -> tuple[Fault, ...]:
        own = [fault for fault in self._record.faults if fault["action"] == index]
        return tuple([_fault(fault) for fault in own if fault.get("turn") != "exchange"])

    def _answers(self, index: int) -> tuple[Answer, ...]:
        own = [each for each in self._source.get("answers", ()) if each["action"] == index]
        return tuple(
            [Answer(each["seat"], each["ms"], each["credit_ms"]) for each in own if each["turn"] == "bomb"]
        )

    def _played_for(self, index: int, seat: int) -> str:
        for end in self._record.played_for:
            if end["seat"] == seat and is_played_for(end, self._record.deal, index, self._record.faults):
                return str(end["by"])
        return ""

    # How the table stands

    def _note(self, step: Step, hands: Sequence[int]) -> None:
        number, out = len(self._steps), tuple(self._deal.out) if step.kind is not Kind.DEALT else ()
        self._steps.append(replace(step, number=number, out=out, costs=self._costs(hands)))

    def _note_owing(self, seats: tuple[int, ...]) -> None:
        """Add to the last step so far who owes a decision after it."""
        self._steps[-1] = replace(self._steps[-1], asked=seats)

    def _texts(self, hands: Sequence[int]) -> tuple[Cards, ...]:
        return tuple([in_order(self._rules, hand) for hand in hands])

    def _costs(self, hands: Sequence[int]) -> tuple[int, ...]:
        ruleset = self._rules.ruleset
        if ruleset.settle not in SETTLED_BY_PENALTIES:
            return ()
        everybody = ruleset.multiplier_for == "all"
        played = {action[0] for action in self._deal.log if action[1]}
        return tuple(
            [
                penalty(self._rules, hand, everybody or seat == self._deal.leader, whole=seat not in played)
                for seat, hand in enumerate(hands)
            ]
        )


def _times(source: Mapping[str, Any], name: str) -> dict[int, int]:
    """Return milliseconds by action."""
    entries = str(source.get(name, "")).split()
    return {index: int(entry) for index, entry in enumerate(entries) if entry != "-"}


def _fault(entry: Mapping[str, Any]) -> Fault:
    return Fault(
        seat=entry["seat"],
        kind=entry["kind"],
        bombing=entry.get("turn") == "bomb",
        ms=entry.get("ms"),
        credit_ms=entry.get("credit_ms", 0),
    )
