#include "bot/planner.h"

/// Sheds as many cards as it can.
bigtwo::Cards Planner::choose(const bigtwo::Turn& turn) {
    bigtwo::Cards best;
    for (const bigtwo::Cards& play : turn.legal) {
        if (play.size() > best.size() || play == session_.hand()) {
            best = play;
        }
    }
    return best;
}
