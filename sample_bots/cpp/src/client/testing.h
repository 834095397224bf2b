#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/strategy.h"

namespace bigtwo {

/// A session without a network, to test a strategy with: the bot has seat 0, and is asked turn after turn. Cards are
/// texts, "3D 3C". The strategy gets everything as from a referee.
class Testing {
public:
    /// A ruleset, as far as this client reads it: that of the preset "chinese".
    static const std::string CHINESE;

    /// Begins a session of so many seats; throws std::invalid_argument if the ruleset cannot be read.
    Testing(Maker maker, const std::string& ruleset, int seats);
    ~Testing();
    Testing(Testing&&) noexcept;

    /// Begins the next deal, in which the bot has this hand, and each seat after it so many cards.
    Testing& deal(const std::string& hand, const std::vector<unsigned>& others);
    /// Lets a seat play cards, or pass with none. What the bot itself answers happens without this.
    Testing& happened(int seat, const std::string& cards);
    /// Returns the bot's answer to a turn; the legal plays have commas between them, and a lead cannot be passed. Throws
    /// std::logic_error if it is not legal, and StrategyFailed if the strategy fails.
    Cards turn(const std::string& to_beat, const std::string& legal);
    Cards turn(referee::v1::TurnKind kind, const std::string& to_beat, bool can_pass, const std::string& legal);

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace bigtwo
