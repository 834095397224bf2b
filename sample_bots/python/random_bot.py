"""Random: any legal play or a pass, all equally likely; the same again in the same session and seat."""

import random

from referee.bot import Play, Turn, main


class RandomBot:
    """One object plays one session."""

    def __init__(self) -> None:
        self.random = random.Random()
        self.seeded = False

    def choose(self, turn: Turn) -> Play | None:
        if not self.seeded:
            self.random.seed(f"{turn.session} {turn.seat}")
            self.seeded = True
        answers: list[Play | None] = [*turn.legal]
        if turn.can_pass:
            answers.append(None)
        return self.random.choice(answers)


if __name__ == "__main__":
    main(RandomBot)
