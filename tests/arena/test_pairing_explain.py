"""Explanations of why a Swiss table is as it is."""

from arena.core.formats.swiss import swiss
from arena.core.pairing import History, Pairing, explain

SCORES = {bot: 8.0 - bot for bot in range(8)}


def test_explain_when_nothing_stood_against_it_then_tables_are_cut_from_the_standing() -> None:
    history = History(scores=SCORES)
    first, second = explain(range(8), 4, history, swiss(range(8), 4, history, 2, b"x"))
    assert sorted(zip(first.places, first.entrants, first.scores, strict=True)) == [
        (1, 0, 8.0),
        (2, 1, 7.0),
        (3, 2, 6.0),
        (4, 3, 5.0),
    ]
    assert (first.gap, second.gap) == (3.0, 3.0)
    for reason in (first, second):
        assert not reason.repeats_avoided
        assert not reason.owners_avoided
        assert reason.instead is None


def test_explain_when_pairs_were_parted_then_they_are_named() -> None:
    history = History([[0, 1]], owners={2: 1, 3: 1}, scores=SCORES)
    pairing = swiss(range(8), 4, history, 2, b"x")
    reasons = explain(range(8), 4, history, pairing)
    assert {pair for reason in reasons for pair in reason.repeats_avoided} == {(0, 1)}
    assert {pair for reason in reasons for pair in reason.owners_avoided} == {(2, 3)}
    assert not any(reason.repeats_accepted or reason.owners_accepted for reason in reasons)


def test_explain_when_a_repeat_was_accepted_then_the_best_exchange_makes_nothing_better() -> None:
    everyone = [[a, b] for a in range(8) for b in range(a)]
    history = History([*everyone, [0, 1], [4, 5], [0, 4]], scores=SCORES)
    pairing = swiss(range(8), 4, history, 2, b"x")
    reasons = explain(range(8), 4, history, pairing)
    assert all(len(reason.repeats_accepted) == 6 for reason in reasons)
    for reason in reasons:
        if reason.instead is not None:
            assert reason.instead.change >= (0, 0, 0)
            assert reason.instead.entrant in reason.entrants
            assert reason.instead.other in pairing.tables[reason.instead.table - 1]


def test_explain_when_a_pairing_could_be_better_then_the_exchange_says_so() -> None:
    history = History([[0, 1]], scores=SCORES)
    poor = Pairing(((0, 1, 2, 3), (4, 5, 6, 7)))
    first, second = explain(range(8), 4, history, poor)
    assert first.repeats_accepted == ((0, 1),)
    assert first.instead is not None
    assert first.instead.change.repeats == -1
    assert second.instead is None
