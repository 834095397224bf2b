#include "client/session.h"

#include <stdexcept>

namespace bigtwo {

namespace v1 = referee::v1;

Session::Session(v1::SessionStarted started)
    : started_(std::move(started)),
      ruleset_(Ruleset::parse(started_.ruleset())),
      counts_(started_.seats_size()),
      scores_(started_.scores().begin(), started_.scores().end()) {
    if (!started_.has_seat() || started_.seat() >= counts_.size()) {
        throw std::invalid_argument("session_started.seat: " + std::to_string(started_.seat()) + " of " +
                                    std::to_string(counts_.size()));
    }
}

void Session::deal_started(const v1::DealStarted& message) {
    deal_ = static_cast<int>(message.deal());
    clockwise_ = message.direction() == v1::DIRECTION_CLOCKWISE;
    hand_ = Cards::of(message.hand());
    for (int seat = 0; seat < seats(); seat++) {
        counts_[seat] = seat < message.hand_sizes_size() ? static_cast<int>(message.hand_sizes(seat)) : 0;
    }
    gone_ = Cards();
    actions_.clear();
}

void Session::deal_ended(const v1::DealEnded& message) {
    happened(message.actions());
    scores_.assign(message.scores().begin(), message.scores().end());
}

void Session::happened(const google::protobuf::RepeatedPtrField<v1::Action>& since) {
    for (const v1::Action& action : since) {
        actions_.push_back(action);
        Cards cards = Cards::of(action.cards());
        if (action.kind() == v1::ACTION_KIND_EXCHANGE) {
            change(action.seat(), -1, cards, {});
            change(action.partner(), 1, {}, cards);
        } else {
            gone_ = gone_.plus(cards);
            int count = static_cast<int>(action.drawn()) - static_cast<int>(cards.size());
            change(action.seat(), count, cards, Cards::of(action.drawn_cards()));
        }
    }
}

void Session::change(std::uint32_t seat, int count, const Cards& without, const Cards& with) {
    if (seat < counts_.size()) {
        counts_[seat] += count;
    }
    if (seat == started_.seat()) {
        hand_ = hand_.minus(without).plus(with);
    }
}

}  // namespace bigtwo
