// Your bot. It knows no rules: it chooses from the plays that the referee lists.

import type { Turn } from "./gen/referee/v1/bots_pb.js";
import type { Answer, Strategy } from "./client.js";
import type { Session } from "./session.js";

/** Makes your bot for a session, which has its ruleset, its seats, and what has happened so far. */
export function planner(_session: Session): Strategy {
  return choose;
}

/** One of the legal plays, or null for a pass. This one sheds as many cards as it can. */
function choose(turn: Turn): Answer {
  let best: Answer = null;
  for (const { cards } of turn.legalPlays) if (cards.length > (best?.length ?? 0)) best = cards;
  return best;
}
