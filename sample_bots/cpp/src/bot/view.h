#pragma once

#include <array>
#include <map>
#include <vector>

#include "bot/pack.h"
#include "client/session.h"

/// How things stand at a turn, with what was worked out for it.
class View {
public:
    View(const Pack& pack, const bigtwo::Session& session);

    /// Returns how many cards the seat with the fewest holds, of the others that hold any.
    int shortest() const { return shortest_; }
    /// Guesses how likely a play wins its trick, from 0 to 1; it is 1 when no other seat holds as many cards.
    double control(const bigtwo::Cards& play) const;
    /// Returns in how many plays a hand could be gone, 2 standing for more.
    int plays(const bigtwo::Cards& hand) const;
    /// Returns what it takes to get rid of a hand, in plays that do not win their trick.
    double cost(const bigtwo::Cards& hand);
    /// Returns the cost of a hand that goes as singles, pairs and triples.
    double rank_cost(const bigtwo::Cards& hand) const;
    double play_cost(const bigtwo::Cards& play) const;

private:
    static constexpr int SAME = 3;  // cards of a rank at most in a small play

    double strength(const bigtwo::Cards& play, double height) const;
    std::vector<bigtwo::Cards> combinations(const bigtwo::Cards& hand) const;

    const Pack& pack_;
    // How many cards another seat holds, of those that still hold any.
    int shortest_ = 0;
    int longest_ = 0;
    // How many copies of each card the others may hold, by place in the pack.
    std::vector<int> unseen_;
    // In how many ranks above a rank the others may hold so many cards: by number of cards, and rank.
    std::array<std::vector<int>, SAME + 1> higher_;
    std::map<bigtwo::Cards, double> costs_;
};
