#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/failure.h"
#include "referee/v1/bots.pb.h"

namespace bigtwo {

/// What the bot knows of the arena's referees. A referee has a stable id and perhaps several addresses; the bot has one
/// stream to each referee that it can reach.
class Referees {
public:
    /// Asks a referee for another number of sessions at once.
    using Ask = std::function<void(unsigned)>;

    /// Notes that an address is dialled; returns whether it was not before.
    bool dial(const std::string& address) { return dialled_.insert(address).second; }
    /// Takes in a welcome.
    void welcomed(const std::string& address, const referee::v1::Welcome& welcome, Ask ask);
    /// Takes in that a stream has ended. Returns another address at which the bot is connected to the same referee, or
    /// none: where there is one, this address is not needed.
    std::optional<std::string> ended(const std::string& address, const Failure& failure);
    /// Lists the addresses of referees to which the bot has no stream, and tries to open none.
    std::vector<std::string> missing() const;
    /// Asks the only referee that can be reached for all sessions of the bot, and gives back what is too many when
    /// another one can be reached again.
    void share(unsigned max_sessions);

private:
    /// A referee that the bot is connected to.
    struct Home {
        std::string address;
        Ask ask;
        unsigned share;  // of the bot's sessions
        unsigned asked;  // how many it was asked for last
    };

    std::string id_at(const std::string& address) const;
    Home* alone();

    std::set<std::string> dialled_;             // the addresses that the bot is connected to, or tries to be
    std::map<std::string, std::string> leads_;  // to which referee an address led last, or is listed to lead
    std::map<std::string, Home> live_;          // the referees that the bot is connected to, by id
    std::set<std::string> missed_;              // those that could not be reached
    std::vector<referee::v1::Referee> listed_;  // of the last welcome
};

}  // namespace bigtwo
