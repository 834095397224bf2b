#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/failure.h"
#include "client/story.h"
#include "client/strategy.h"
#include "client/threads.h"

namespace bigtwo {

/// The open sessions of one stream: events in, moves out. It is used by one thread; strategies think elsewhere.
class Table {
public:
    /// Returns an empty table. failed is told of each failure of a strategy; moves gets the answers, on the thread that
    /// the table is used by.
    Table(Maker maker, Thinker& thinker, Story& story, Log log, std::function<void(const StrategyFailed&)> failed,
          std::function<void(referee::v1::Move)> moves);

    /// Tells whether any session is open.
    bool busy() const { return !seats_.empty(); }
    /// Tells whether a strategy thinks.
    bool thinking() const { return thinking_ > 0; }
    /// Takes in an event.
    void take(const referee::v1::Event& event);
    /// Gives up what strategies think about.
    void close();

private:
    /// A session and its strategy, which is made by the first thought. A thought that was given up may go on and use
    /// them; the table then uses a copy, with a new strategy.
    struct Player {
        Session session;
        std::unique_ptr<Strategy> strategy;
    };

    struct Seat {
        std::shared_ptr<Player> player;  // null for a session that cannot be read: it is played by default actions
        std::uint32_t sequence = 0;      // of the turn that is thought about
        Work cancel;                     // empty while nothing is
    };

    Player* free(std::uint32_t handle);
    void give_up(Seat& seat);
    void settled(Seat& seat);
    void open(const referee::v1::SessionStarted& started);
    void close(const referee::v1::SessionEnded& ended);
    void fault(const referee::v1::Fault& fault);
    void turn(const referee::v1::Turn& message);
    void done(Seat& seat, const referee::v1::Turn& message, const Outcome& outcome);

    Maker maker_;
    Thinker& thinker_;
    Story& story_;
    Log log_;
    std::function<void(const StrategyFailed&)> failed_;
    std::function<void(referee::v1::Move)> moves_;
    std::map<std::uint32_t, Seat> seats_;  // by handle
    int thinking_ = 0;
};

/// Returns what the referee keeps of a text, as UTF-8: a message with anything else would end the stream of all sessions.
std::string brief(const std::string& text);

}  // namespace bigtwo
