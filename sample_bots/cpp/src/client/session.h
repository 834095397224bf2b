#pragma once

#include <google/protobuf/repeated_field.h>

#include <vector>

#include "client/cards.h"
#include "client/ruleset.h"
#include "referee/v1/bots.pb.h"

namespace bigtwo {

/// One session as the bot sees it: the sum of the events that it was sent.
class Session {
public:
    /// Opens a session; throws std::invalid_argument if its ruleset or its seat cannot be read.
    explicit Session(referee::v1::SessionStarted started);

    /// Returns the message that opened it: names, ruleset, seats, clocks.
    const referee::v1::SessionStarted& started() const { return started_; }
    const Ruleset& ruleset() const { return ruleset_; }
    /// Returns the bot's own seat.
    int seat() const { return static_cast<int>(started_.seat()); }
    int seats() const { return static_cast<int>(counts_.size()); }
    /// Returns the running score by seat; empty at the start of a session.
    const std::vector<int>& scores() const { return scores_; }
    /// Returns the number of the deal, from 1; 0 before the first.
    int deal() const { return deal_; }
    /// Returns the bot's own cards.
    const Cards& hand() const { return hand_; }
    /// Returns how many cards a seat holds; throws std::out_of_range for a seat that is not there.
    int count(int seat) const { return counts_.at(seat); }
    /// Returns all cards that were played in this deal.
    const Cards& gone() const { return gone_; }
    /// Returns what happened in this deal.
    const std::vector<referee::v1::Action>& actions() const { return actions_; }
    /// Returns the seat that plays after another one.
    int next(int after) const { return (after + (clockwise_ ? 1 : seats() - 1)) % seats(); }

    void deal_started(const referee::v1::DealStarted& message);
    void deal_ended(const referee::v1::DealEnded& message);
    void happened(const google::protobuf::RepeatedPtrField<referee::v1::Action>& since);

private:
    void change(std::uint32_t seat, int count, const Cards& without, const Cards& with);

    referee::v1::SessionStarted started_;
    Ruleset ruleset_;
    std::vector<int> counts_;
    std::vector<int> scores_;
    int deal_ = 0;
    bool clockwise_ = false;
    Cards hand_;
    Cards gone_;
    std::vector<referee::v1::Action> actions_;
};

}  // namespace bigtwo
