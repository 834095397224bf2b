#include "bot/view.h"

#include <algorithm>
#include <set>
#include <span>

using bigtwo::Cards;
using Groups = std::vector<Pack::Group>;

namespace {

/// How much of a play's cost is saved when it surely wins its trick: the bot then leads again.
constexpr double KEEP_CONTROL = 0.7;
constexpr int FIVE = 5;

/// Returns how many combinations of a hand are tried, so that large hands take no longer.
std::size_t breadth(std::size_t size) {
    return size <= 14 ? 40 : size <= 20 ? 8 : size <= 28 ? 3 : 1;
}

Cards some(const std::vector<int>& cards, std::size_t from, std::size_t count) {
    return Cards(std::span(cards).subspan(from, count));
}

/// Finds five ranks in a row, the highest rank left out.
void straights(const Groups& ranks, std::vector<Cards>& found) {
    for (std::size_t low = 0; low + FIVE < ranks.size(); low++) {
        std::vector<int> row;
        for (std::size_t rank = low; rank < low + FIVE && !ranks[rank].empty(); rank++) {
            row.push_back(ranks[rank].front());
        }
        if (row.size() == FIVE) {
            found.emplace_back(row);
        }
    }
}

/// Finds the runs of five among the cards of a suit.
void flushes(const Groups& suits, std::vector<Cards>& found) {
    for (const auto& cards : suits) {
        for (std::size_t low = 0; low + FIVE <= cards.size(); low++) {
            found.push_back(some(cards, low, FIVE));
        }
    }
}

/// Finds triples with pairs, and quads with a single card.
void full_houses(const Groups& ranks, std::vector<Cards>& found) {
    for (const auto& many : ranks) {
        if (many.size() < 3) {
            continue;
        }
        for (const auto& few : ranks) {
            if (&many == &few) {
                continue;
            }
            if (few.size() >= 2) {
                found.push_back(some(many, 0, 3).plus(some(few, 0, 2)));
            }
            if (many.size() >= 4 && !few.empty()) {
                found.push_back(some(many, 0, 4).plus(some(few, 0, 1)));
            }
        }
    }
}

}  // namespace

View::View(const Pack& pack, const bigtwo::Session& session) : pack_(pack), unseen_(pack.cards().size()) {
    for (int seat = 0; seat < session.seats(); seat++) {
        const int count = session.count(seat);
        if (seat != session.seat() && count > 0) {
            longest_ = std::max(longest_, count);
            shortest_ = shortest_ == 0 ? count : std::min(shortest_, count);
        }
    }
    std::vector<int> held(pack.ranks());
    for (std::size_t place = 0; place < unseen_.size(); place++) {
        const int card = pack.cards()[place];
        unseen_[place] = std::max(0, pack.decks() - session.hand().count(card) - session.gone().count(card));
        held[pack.rank(card)] += unseen_[place];
    }
    for (int size = 1; size <= SAME; size++) {
        higher_[size].resize(pack.ranks());
        for (int rank = pack.ranks() - 2; rank >= 0; rank--) {
            higher_[size][rank] = higher_[size][rank + 1] + (held[rank + 1] >= size ? 1 : 0);
        }
    }
}

double View::control(const Cards& play) const {
    const int size = static_cast<int>(play.size());
    if (size > longest_) {
        return 1;
    }
    int high = 0;
    for (int card : play.numbers()) {
        high = std::max(high, pack_.place(card));
    }
    const int rank = pack_.rank(pack_.cards()[high]);
    switch (size) {
        case 1: {
            int above = 0;
            for (std::size_t place = high + 1; place < unseen_.size(); place++) {
                above += unseen_[place];
            }
            return 1.0 / (1 + above);
        }
        case 2:
            return 1 / (1 + 0.5 * higher_[2][rank]);
        case SAME:
            return 1 / (1 + 0.15 * higher_[SAME][rank]);
        default:
            return strength(play, static_cast<double>(rank) / pack_.ranks());
    }
}

/// Returns the same for a large play, from its shape; height is its highest rank, from 0 to 1.
double View::strength(const Cards& play, double height) const {
    std::size_t most = 0;
    for (const auto& cards : pack_.by_rank(play)) {
        most = std::max(most, cards.size());
    }
    if (most > SAME) {
        return 0.95;
    }
    if (most == SAME) {
        return 0.8;
    }
    std::set<int> suits;
    for (int card : play.numbers()) {
        suits.insert(pack_.suit(card));
    }
    return suits.size() == 1 ? 0.65 : 0.4 + 0.2 * height;
}

int View::plays(const Cards& hand) const {
    const auto ranks = pack_.by_rank(hand);
    const auto held = std::count_if(ranks.begin(), ranks.end(), [](const auto& cards) { return !cards.empty(); });
    if (held == 1 && (hand.size() <= 2 || (hand.size() == SAME && pack_.triples()))) {
        return 1;
    }
    if (hand.size() != FIVE) {
        return 2;
    }
    const auto found = combinations(hand);
    return std::find(found.begin(), found.end(), hand) == found.end() ? 2 : 1;
}

double View::cost(const Cards& hand) {
    if (auto known = costs_.find(hand); known != costs_.end()) {
        return known->second;
    }
    double best = rank_cost(hand);
    if (hand.size() >= FIVE) {
        auto found = combinations(hand);
        found.resize(std::min(found.size(), breadth(hand.size())));
        for (const Cards& play : found) {
            best = std::min(best, play_cost(play) + cost(hand.minus(play)));
        }
    }
    costs_[hand] = best;
    return best;
}

double View::rank_cost(const Cards& hand) const {
    double cost = 0;
    for (const auto& cards : pack_.by_rank(hand)) {
        for (std::size_t from = 0, size; from < cards.size(); from += size) {
            const std::size_t left = cards.size() - from;
            size = pack_.triples() && left % 2 == 1 && left >= SAME ? SAME : std::min<std::size_t>(2, left);
            cost += play_cost(some(cards, from, size));
        }
    }
    return cost;
}

double View::play_cost(const Cards& play) const {
    return 1 - KEEP_CONTROL * control(play);
}

/// Returns five-card combinations of a hand, not all there are: enough to plan with. The referee alone says which are
/// legal.
std::vector<Cards> View::combinations(const Cards& hand) const {
    const auto ranks = pack_.by_rank(hand);
    std::vector<Cards> found;
    straights(ranks, found);
    if (pack_.flushes()) {
        flushes(pack_.by_suit(hand), found);
    }
    full_houses(ranks, found);
    return found;
}
