#pragma once

#include <initializer_list>
#include <string>

#include "client/cards.h"
#include "referee/v1/bots.pb.h"

// Events of a session with three seats and the handle 7, of which the bot has seat 1.

namespace events {

namespace v1 = referee::v1;

inline v1::SessionStarted session(unsigned handle = 7) {
    v1::SessionStarted started;
    started.set_session(handle);
    started.set_session_id("cup/1/1/1");
    started.set_seat(1);
    for (const char* seat : {"a", "b", "c"}) {
        started.add_seats(seat);
    }
    started.set_ruleset(R"({"ranks": ["3", "4"], "suits": ["D", "C"], "name": "small", "new": 1})");
    return started;
}

inline v1::Event started(const v1::SessionStarted& message) {
    v1::Event event;
    *event.mutable_session_started() = message;
    return event;
}

inline v1::Event started(unsigned handle = 7) {
    return started(session(handle));
}

inline v1::Event dealt(const std::string& hand) {
    const bigtwo::Cards cards = bigtwo::Cards::parse(hand);
    v1::Event event;
    v1::DealStarted& deal = *event.mutable_deal_started();
    deal.set_session(7);
    deal.set_deal(3);
    cards.put_into(*deal.mutable_hand());
    for (unsigned count : {3u, static_cast<unsigned>(cards.size()), 5u}) {
        deal.add_hand_sizes(count);
    }
    deal.set_direction(v1::DIRECTION_ANTICLOCKWISE);
    return event;
}

/// A turn with sequence 4 to play, of the legal plays 3D and 3C 3H.
inline v1::Event turn(unsigned handle = 7) {
    v1::Event event;
    v1::Turn& turn = *event.mutable_turn();
    turn.set_session(handle);
    turn.set_sequence(4);
    turn.set_kind(v1::TURN_KIND_PLAY);
    for (const char* play : {"3D", "3C 3H"}) {
        bigtwo::Cards::parse(play).put_into(*turn.add_legal_plays()->mutable_cards());
    }
    return event;
}

inline v1::Event ended(unsigned handle = 7) {
    v1::Event event;
    event.mutable_session_ended()->set_session(handle);
    return event;
}

inline v1::PlayResponse response(std::initializer_list<v1::Event> events) {
    v1::PlayResponse response;
    for (const v1::Event& event : events) {
        *response.add_events() = event;
    }
    return response;
}

}  // namespace events
