#include "bot/planner.h"

#include <algorithm>
#include <limits>
#include <utility>

using bigtwo::Cards;
using bigtwo::Turn;

namespace {

// What it weighs, in plays: getting rid of one play is worth 1.
constexpr double WIN_TRICK = 0.5;      // winning a trick, and so the next lead
constexpr double PER_CARD_LED = 0.08;  // a card led: the others have fewer large plays than small ones
constexpr double PER_CARD_LATE = 0.3;  // a card got rid of before somebody goes out
constexpr int LATE = 4;                // cards that somebody holds then
constexpr double IMPATIENCE = 1;       // every pass in a row with two seats, less with more: waiting costs
constexpr double PER_DRAW = 1;         // a pass where whoever passes draws cards
constexpr double NEARLY_OUT = 2;       // stopping a seat that could go out
constexpr double LAST_TOP_CARD = 5;    // being left with the highest card alone, where the ruleset minds
constexpr double GOING_OUT = 100;
constexpr double SURE_TO_WIN = 50;
constexpr std::size_t ROUGH_FROM = 120;  // more legal plays than this are looked at roughly first
constexpr std::size_t ROUGH_TO = 40;
constexpr std::size_t GLANCES = 3000;  // and of more than this only some, so that large hands take no longer

}  // namespace

Cards Planner::choose(const Turn& turn) {
    if (turn.legal.empty()) {
        return {};
    }
    View view(pack_, session_);
    switch (turn.kind()) {
        case referee::v1::TURN_KIND_EXCHANGE:
            return exchange(view, turn.legal);
        case referee::v1::TURN_KIND_BEAT_OWN:
            return {};  // the trick is won, and a lead is worth more than the play
        case referee::v1::TURN_KIND_BOMB:
            return bomb(view, turn.legal);
        default:
            return play(view, turn);
    }
}

/// Returns the card without which the hand is best.
Cards Planner::exchange(View& view, const std::vector<Cards>& legal) const {
    auto left = [&](const Cards& card) { return view.cost(session_.hand().minus(card)); };
    return *std::min_element(legal.begin(), legal.end(),
                             [&](const Cards& one, const Cards& other) { return left(one) < left(other); });
}

/// Bombs when somebody is nearly out, or when it brings the bot to its last play.
Cards Planner::bomb(const View& view, const std::vector<Cards>& legal) const {
    for (const Cards& play : legal) {
        if (view.shortest() <= 2 || view.plays(session_.hand().minus(play)) <= 1) {
            return play;
        }
    }
    return {};
}

Cards Planner::play(View& view, const Turn& turn) const {
    Cards best;
    double top = -std::numeric_limits<double>::infinity();
    if (turn.can_pass()) {
        top = -IMPATIENCE * passes() / std::max(1, session_.seats() - 1);
        if (session_.ruleset().draw_on_pass != "none") {
            top -= PER_DRAW;
        }
    }
    const double now = view.cost(session_.hand());
    for (const Cards& play : candidates(view, turn.legal)) {
        const double worth = score(view, turn, play, now);
        if (worth > top) {
            best = play;
            top = worth;
        }
    }
    return best;
}

/// Returns how often the bot has passed since its last play.
int Planner::passes() const {
    int count = 0;
    for (const auto& action : session_.actions()) {
        if (static_cast<int>(action.seat()) == session_.seat()) {
            count = action.kind() == referee::v1::ACTION_KIND_PASS ? count + 1 : 0;
        }
    }
    return count;
}

/// Returns all legal plays, or of very many those that look best at a glance.
std::vector<Cards> Planner::candidates(const View& view, const std::vector<Cards>& legal) const {
    if (legal.size() <= ROUGH_FROM) {
        return legal;
    }
    std::vector<std::pair<double, std::size_t>> costs;
    const std::size_t step = (legal.size() + GLANCES - 1) / GLANCES;
    for (std::size_t place = 0; place < legal.size(); place += step) {
        const Cards& play = legal[place];
        costs.emplace_back(view.rank_cost(session_.hand().minus(play)) + view.play_cost(play), place);
    }
    std::sort(costs.begin(), costs.end());
    costs.resize(std::min(costs.size(), ROUGH_TO));
    std::vector<Cards> some;
    for (const auto& [cost, place] : costs) {
        some.push_back(legal[place]);
    }
    return some;
}

/// Returns how much better the bot stands after a play than after a pass; now is the cost of its whole hand.
double Planner::score(View& view, const Turn& turn, const Cards& play, double now) const {
    const Cards left = session_.hand().minus(play);
    if (left.empty()) {
        return GOING_OUT;
    }
    const int size = static_cast<int>(play.size());
    const double control = view.control(play);
    const bool leads = turn.to_beat.empty();
    double score = now - view.cost(left) + WIN_TRICK * control;
    if (view.shortest() <= LATE) {
        score += PER_CARD_LATE * size;
    } else if (leads) {
        score += PER_CARD_LED * size;
    }
    if (control == 1 && view.plays(left) == 1) {
        score += SURE_TO_WIN;
    }
    if (view.shortest() <= 2 && size <= view.shortest()) {
        // Whoever is nearly out must not get this trick.
        score += leads ? NEARLY_OUT * (control - 1) : NEARLY_OUT * control;
    }
    if (session_.ruleset().last_top_card != "allowed" && left == pack_.top()) {
        score -= LAST_TOP_CARD;
    }
    return score;
}
