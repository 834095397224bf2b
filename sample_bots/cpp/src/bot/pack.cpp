#include "bot/pack.h"

#include <algorithm>

using bigtwo::Cards;

Pack::Pack(const bigtwo::Ruleset& ruleset)
    : cards_(ruleset.order()),
      suits_(static_cast<int>(ruleset.suits.size())),
      plain_(static_cast<int>(ruleset.ranks.size()) * suits_),
      ranks_(static_cast<int>(ruleset.ranks.size() + cards_.size()) - plain_),
      decks_(ruleset.decks),
      top_(std::vector<int>{cards_.back()}),
      triples_(ruleset.can_play("triple")),
      flushes_(ruleset.can_play("flush")) {
    places_.fill(-1);
    for (std::size_t place = 0; place < cards_.size(); place++) {
        places_.at(cards_[place]) = static_cast<int>(place);
    }
}

int Pack::place(int card) const {
    const int place = card >= 0 && card < NUMBERS ? places_[card] : -1;
    return place < 0 ? static_cast<int>(cards_.size()) - 1 : place;
}

int Pack::rank(int card) const {
    const int at = place(card);
    return at < plain_ ? at / suits_ : plain_ / suits_ + at - plain_;
}

int Pack::suit(int card) const {
    const int at = place(card);
    return at < plain_ ? at % suits_ : 0;
}

std::vector<Pack::Group> Pack::by_rank(const Cards& some) const {
    std::vector<Group> groups(ranks_);
    for (int card : in_order(some)) {
        groups[rank(card)].push_back(card);
    }
    return groups;
}

std::vector<Pack::Group> Pack::by_suit(const Cards& some) const {
    std::vector<Group> groups(suits_);
    for (int card : in_order(some)) {
        groups[suit(card)].push_back(card);
    }
    return groups;
}

std::vector<int> Pack::in_order(const Cards& some) const {
    std::vector<int> sorted = some.numbers();
    std::stable_sort(sorted.begin(), sorted.end(), [this](int one, int other) { return place(one) < place(other); });
    return sorted;
}
