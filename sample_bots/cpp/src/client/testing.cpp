#include "client/testing.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "client/table.h"

namespace bigtwo {

namespace v1 = referee::v1;

const std::string Testing::CHINESE = R"({
    "name": "chinese", "decks": 1,
    "ranks": ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"], "suits": ["D", "C", "H", "S"],
    "plays": ["single", "pair", "triple", "straight", "flush", "full_house", "quads", "straight_flush"],
    "last_top_card": "allowed", "draw_on_pass": "none"
})";

struct Testing::Inside {
    /// Thinks while it is waited for.
    struct AtOnce : Thinker {
        Work think(Thought thought, std::optional<Milliseconds>, std::function<void(const Outcome&)> done) override {
            done(outcome_of(thought));
            return [] {};
        }
    };

    AtOnce thinker;
    Story story{[](const std::string&) {}};
    std::vector<v1::Move> moves;
    std::vector<v1::Action> actions;  // since the last turn
    Table table;
    unsigned deals = 0;
    unsigned turns = 0;

    explicit Inside(Maker maker)
        : table(
              std::move(maker), thinker, story, [](const std::string&) {},
              [](const StrategyFailed& failure) { throw failure; },
              [this](v1::Move move) { moves.push_back(std::move(move)); }) {}

    void happened(int seat, const Cards& cards, v1::ActionKind kind) {
        v1::Action& action = actions.emplace_back();
        action.set_seat(seat);
        action.set_kind(cards.empty() ? v1::ACTION_KIND_PASS : kind);
        cards.put_into(*action.mutable_cards());
    }
};

Testing::Testing(Maker maker, const std::string& ruleset, int seats)
    : inside_(std::make_unique<Inside>(std::move(maker))) {
    v1::Event event;
    v1::SessionStarted& started = *event.mutable_session_started();
    started.set_session_id("testing");
    started.set_ruleset(ruleset);
    started.set_seat(0);
    for (int seat = 0; seat < seats; seat++) {
        started.add_seats("owner/bot" + std::to_string(seat) + "@1");
        started.add_scores(0);
    }
    Ruleset::parse(ruleset);  // the table would go on without
    inside_->table.take(event);
}

Testing::~Testing() = default;

Testing::Testing(Testing&&) noexcept = default;

Testing& Testing::deal(const std::string& hand, const std::vector<unsigned>& others) {
    const Cards cards = Cards::parse(hand);
    v1::Event event;
    v1::DealStarted& dealt = *event.mutable_deal_started();
    dealt.set_deal(++inside_->deals);
    dealt.set_direction(v1::DIRECTION_CLOCKWISE);
    cards.put_into(*dealt.mutable_hand());
    dealt.add_hand_sizes(cards.size());
    dealt.mutable_hand_sizes()->Add(others.begin(), others.end());
    inside_->actions.clear();
    inside_->table.take(event);
    return *this;
}

Testing& Testing::happened(int seat, const std::string& cards) {
    inside_->happened(seat, Cards::parse(cards), v1::ACTION_KIND_PLAY);
    return *this;
}

Cards Testing::turn(const std::string& to_beat, const std::string& legal) {
    return turn(v1::TURN_KIND_PLAY, to_beat, !to_beat.empty(), legal);
}

Cards Testing::turn(v1::TurnKind kind, const std::string& to_beat, bool can_pass, const std::string& legal) {
    v1::Event event;
    v1::Turn& turn = *event.mutable_turn();
    turn.set_sequence(++inside_->turns);
    turn.set_kind(kind);
    turn.set_can_pass(can_pass);
    turn.mutable_actions()->Add(inside_->actions.begin(), inside_->actions.end());
    Cards::parse(to_beat).put_into(*turn.mutable_to_beat());
    std::vector<Cards> plays;
    std::istringstream parts(legal);
    for (std::string part; std::getline(parts, part, ',');) {
        plays.push_back(Cards::parse(part));
        plays.back().put_into(*turn.add_legal_plays()->mutable_cards());
    }
    inside_->actions.clear();
    inside_->table.take(event);
    const Cards answer = Cards::of(inside_->moves.back().cards());
    if (answer.empty() ? !can_pass : std::find(plays.begin(), plays.end(), answer) == plays.end()) {
        throw std::logic_error("not legal: " + (answer.empty() ? "a pass" : answer.text()));
    }
    if (kind != v1::TURN_KIND_EXCHANGE) {
        inside_->happened(0, answer, kind == v1::TURN_KIND_BOMB ? v1::ACTION_KIND_BOMB : v1::ACTION_KIND_PLAY);
    }
    return answer;
}

}  // namespace bigtwo
