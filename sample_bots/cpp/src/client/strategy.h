#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "client/cards.h"
#include "client/session.h"
#include "referee/v1/bots.pb.h"

namespace bigtwo {

/// A decision that is asked of the bot.
struct Turn {
    /// How the session stands.
    const Session& session;
    /// The turn as it was sent: clocks, and all that is not needed often.
    const referee::v1::Turn& message;
    /// All legal plays: by number of cards and kind, the weakest first.
    std::vector<Cards> legal;
    /// The play to beat; empty when leading.
    Cards to_beat;

    Turn(const Session& session, const referee::v1::Turn& message);

    referee::v1::TurnKind kind() const { return message.kind(); }
    bool can_pass() const { return message.can_pass(); }
};

/// Plays one session.
class Strategy {
public:
    virtual ~Strategy() = default;
    /// Returns one of the turn's legal plays, or no cards for a pass. It is called for the kinds of turns that are known
    /// here, for one turn of the session at a time, on a thread that is not the client's. What it throws, the referee is
    /// told, and the session goes on.
    virtual Cards choose(const Turn& turn) = 0;
};

/// Returns the strategy for a session, when its first decision is asked: also for one that is met again after a lost
/// connection, and for one whose strategy has not answered in time. The session lives longer than the strategy. What it
/// throws is told of each turn.
using Maker = std::function<std::unique_ptr<Strategy>(const Session&)>;

/// Returns what makes strategies of a class whose constructor takes a session.
template <typename Class>
Maker make() {
    return [](const Session& session) { return std::make_unique<Class>(session); };
}

}  // namespace bigtwo
