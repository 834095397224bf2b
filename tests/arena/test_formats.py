"""What holds for every tournament format, including any that is added later."""

from dataclasses import replace

import pytest

from arena.core.formats import FORMATS, Rated, Setup, Situation
from arena.core.ranking import Standing

SETUP = Setup(size=4, rounds=None, lots=bytes(32))
ENTRANTS = [*range(1, 14)]
SITUATION = Situation(
    entrants=ENTRANTS,
    present=ENTRANTS,
    owners={entrant: entrant for entrant in ENTRANTS},
    ratings=lambda: dict.fromkeys(ENTRANTS, Rated(1500.0, 0)),
)


@pytest.mark.parametrize("name", FORMATS)
def test_first_round_when_paired_then_seats_are_full_and_nobody_has_two(name: str) -> None:
    pairing = FORMATS[name].next(SETUP, SITUATION)[0]
    seated = [entrant for table in pairing.tables for entrant in table]
    assert {len(table) for table in pairing.tables} == {SETUP.size}
    assert len(set(seated)) == len(seated)
    assert not set(pairing.byes).intersection(seated)
    assert set(seated) <= set(ENTRANTS)


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if format.late_entry])
def test_next_round_when_some_are_absent_then_they_are_not_seated(name: str) -> None:
    [pairing] = FORMATS[name].next(SETUP, replace(SITUATION, present=ENTRANTS[:9]))
    assert {entrant for table in pairing.tables for entrant in table} <= set(ENTRANTS[:9])


@pytest.mark.parametrize("name", FORMATS)
def test_total_when_rounds_are_given_then_it_is_these(name: str) -> None:
    assert FORMATS[name].total(replace(SETUP, rounds=3), len(ENTRANTS)) == 3


@pytest.mark.parametrize("name", FORMATS)
def test_defaults_of_options_lie_within_their_limits(name: str) -> None:
    for option in FORMATS[name].options:
        assert option.rule(option.of(SETUP), len(ENTRANTS), SETUP.size) is None


@pytest.mark.parametrize("name", FORMATS)
def test_criteria_are_figures_of_the_standings(name: str) -> None:
    assert set(FORMATS[name].criteria.decisive) <= set(Standing.__slots__)


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if not format.owners_part])
def test_formats_that_cannot_part_owners_cannot_be_entered_late(name: str) -> None:
    assert not FORMATS[name].late_entry
