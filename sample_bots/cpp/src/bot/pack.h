#pragma once

#include <array>
#include <vector>

#include "client/cards.h"
#include "client/ruleset.h"

/// What the planner has to know of a ruleset's cards.
class Pack {
public:
    /// Cards of one rank, or of one suit.
    using Group = std::vector<int>;

    explicit Pack(const bigtwo::Ruleset& ruleset);

    /// Returns the numbers of the cards, the lowest first.
    const std::vector<int>& cards() const { return cards_; }
    /// Returns how many ranks there are; each joker is one of its own.
    int ranks() const { return ranks_; }
    int decks() const { return decks_; }
    /// Returns the highest card.
    const bigtwo::Cards& top() const { return top_; }
    bool triples() const { return triples_; }
    bool flushes() const { return flushes_; }

    /// Returns the place of a card in the order, from 0; a card that the pack does not have is as the highest.
    int place(int card) const;
    /// Returns the rank of a card, from 0.
    int rank(int card) const;
    /// Returns the suit of a card, from 0; jokers have the lowest.
    int suit(int card) const;
    /// Sorts cards by rank, and by suit within a rank.
    std::vector<Group> by_rank(const bigtwo::Cards& some) const;
    /// Sorts cards by suit, and by rank within a suit.
    std::vector<Group> by_suit(const bigtwo::Cards& some) const;

private:
    static constexpr int NUMBERS = 128;  // every card's number is below

    std::vector<int> in_order(const bigtwo::Cards& some) const;

    std::vector<int> cards_;
    int suits_;
    int plain_;  // cards that are no jokers
    int ranks_;
    int decks_;
    bigtwo::Cards top_;
    bool triples_;
    bool flushes_;
    std::array<int, NUMBERS> places_;
};
