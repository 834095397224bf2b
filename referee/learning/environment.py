"""Big Two as an environment of PettingZoo (AEC)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from referee.errors import LearningError
from referee.learning.encoder import Encoder, Source
from referee.learning.features import PLAY_FIELDS
from referee.learning.tables import LearningTable
from referee.ruleset.axes.session import MAX_DEALS

try:
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise ImportError(
        f"referee.learning.env needs {error.name}: pip install 'bigtwo-bot[rl]'", name=error.name
    ) from None

Observation = dict[str, NDArray[Any]]

RENDER_MODES = ("ansi", "human")


class BigTwo(AECEnv):  # type: ignore[misc] # PettingZoo has no types
    """A session of Big Two; every agent is a seat, and each decision is a step.

    Seats that may bomb a play out of turn are asked one after another. Seats with only one choice are not
    asked at all, as in the arena. So the same agent may act twice in a row.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "big_two_v1",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        ruleset: Source = "hong-kong",
        *,
        players: int | None = None,
        deals: int = 1,
        slots: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment; ``reset`` begins an episode.

        ``players``, if given, must be the number of players of the ruleset. An episode is a session of
        ``deals`` deals, or fewer if the ruleset ends sessions by score. ``slots`` is as in ``Encoder``.
        Raise RulesetError and LearningError.
        """
        super().__init__()
        self.encoder = Encoder(ruleset, slots=slots)
        seats = self.encoder.ruleset.players
        if players not in (None, seats):
            raise LearningError(f"players: {self.encoder.ruleset.label} is for {seats}, not {players}")
        if not 1 <= deals <= MAX_DEALS:
            raise LearningError(f"deals: must be from 1 to {MAX_DEALS}, not {deals}")
        if render_mode not in (None, *RENDER_MODES):
            raise LearningError(f"render_mode: must be ansi or human, not {render_mode!r}")
        self.render_mode = render_mode
        self._deals = deals
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self.observation_spaces = {agent: _observation_space(self.encoder) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.encoder.slots) for agent in self.possible_agents}
        self._random: np.random.Generator | None = None
        self._table: LearningTable | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the agent's observation space, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> "spaces.Discrete":
        """Return the agent's action space, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode; ``seed`` determines its cards and those of the following episodes.

        If nobody has anything to decide, as when a hand wins at once, the cards are dealt again.
        There are no ``options``.
        """
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        table = None
        while table is None or table.over:
            table = LearningTable(self.encoder.rules, self._random.bytes(32), self._deals)
        self._table = table
        self._reward()
        self.agent_selection = self.agents[table.seat]

    def step(self, action: int | None) -> None:
        """Take an action of ``agent_selection``: 0 passes, n is the n-th legal play; None once it is done.

        Raise LearningError for an action that is not legal, and then change nothing.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        table = self._begun()
        if isinstance(action, bool) or not isinstance(action, int | np.integer):
            raise LearningError(f"action: must be a whole number, not {action!r}")
        table.act(int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._reward()
        if table.over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.agents[table.seat]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return what the agent sees; if it is not asked, its mask allows only action 0."""
        sight = self._begun().sight(self.possible_agents.index(agent))
        seen = self.encoder.observe([sight])
        plays = np.zeros((self.encoder.slots, len(PLAY_FIELDS)), np.float32)
        mask = np.zeros(self.encoder.slots, np.int8)
        used = len(seen.legal)
        plays[:used], mask[:used] = seen.plays, seen.legal
        return {"observation": seen.observation[0], "plays": plays, "action_mask": mask}

    def render(self) -> str | None:
        """Return the table as text in mode ``ansi``, or print it in mode ``human``."""
        if self.render_mode is None:
            raise LearningError("render_mode: must be given to env() for render()")
        text = self._text()
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _begun(self) -> LearningTable:
        if self._table is None:
            raise LearningError("reset() comes first")
        return self._table

    def _reward(self) -> None:
        """Add the points of deals that ended to the rewards."""
        for points in self._begun().points:
            for agent, scored in zip(self.agents, points, strict=True):
                self.rewards[agent] += float(scored)
        self._accumulate_rewards()

    def _text(self) -> str:
        table, rules = self._begun(), self.encoder.rules
        deal = table.deal
        assert deal is not None
        to_beat = rules.text(deal.to_beat & rules.full) or "nothing"
        lines = [f"{rules.ruleset.label} deal {deal.number}, to beat: {to_beat}"]
        for seat, hand in enumerate(deal.hands):
            mark = ">" if seat == table.seat else " "
            lines.append(f"{mark} player_{seat}  {table.scores[seat]:5}  {rules.text(hand) or '-'}")
        return "\n".join(lines)


def wrapped(environment: BigTwo) -> Any:
    """Return the environment in PettingZoo's wrapper that catches calls in the wrong order."""
    return OrderEnforcingWrapper(environment)


def _observation_space(encoder: Encoder) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(-1.0, 1.0, (encoder.size,), np.float32),
            "plays": spaces.Box(0.0, 1.0, (encoder.slots, len(PLAY_FIELDS)), np.float32),
            "action_mask": spaces.Box(0, 1, (encoder.slots,), np.int8),
        }
    )
