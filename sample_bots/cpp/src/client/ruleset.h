#pragma once

#include <string>
#include <vector>

namespace bigtwo {

/// A part of the rules of a session; the whole is in SessionStarted.ruleset.
struct Ruleset {
    std::string name;
    /// The number of packs.
    int decks = 1;
    /// In order, the lowest first.
    std::vector<std::string> ranks;
    std::vector<std::string> suits;
    /// How many jokers each pack has.
    int jokers = 0;
    /// The kinds that may be played.
    std::vector<std::string> plays;
    /// "allowed", or what the highest card may not do as the last one.
    std::string last_top_card;
    /// "none" unless whoever passes draws cards.
    std::string draw_on_pass;

    /// Reads the JSON of a ruleset; throws std::invalid_argument if ranks or suits are missing or not known here.
    static Ruleset parse(const std::string& json);

    bool can_play(const std::string& kind) const;
    /// Returns the numbers of a pack's cards, the lowest first: by rank, by suit within a rank, then jokers.
    std::vector<int> order() const;
};

}  // namespace bigtwo
