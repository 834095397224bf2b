#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "client/session.h"

namespace bigtwo {

/// Takes lines of news.
using Log = std::function<void(const std::string&)>;

/// Tells of the bot's sessions on all streams: against whom they begin, how they end, what the bot is rated.
class Story {
public:
    using Clock = std::chrono::steady_clock;

    /// How many lines about sessions are written in a period; more are only counted.
    static constexpr int MOST_LINES = 20;
    static constexpr std::chrono::seconds PERIOD{10};

    explicit Story(Log log, std::function<Clock::time_point()> now = Clock::now)
        : log_(std::move(log)), now_(std::move(now)) {}

    /// Tells that a session began, or that the bot came back to it; and first of a rating that is news.
    void began(const Session& session);
    /// Tells how a session ended.
    void ended(const Session& session, const referee::v1::SessionEnded& message);
    /// Tells what was only counted.
    void end();

private:
    struct Rating {
        int value;
        unsigned matches;
    };

    void news(const Session& session);
    bool may();
    void tell_counted();

    std::mutex mutex_;
    Log log_;
    std::function<Clock::time_point()> now_;
    std::map<std::string, Rating> rated_;  // by pool, the latest
    Clock::time_point period_ends_ = Clock::time_point::min();
    int lines_ = 0;
    // What happened in the period without a line of its own.
    int begun_ = 0;
    int ended_ = 0;
    int points_ = 0;
};

}  // namespace bigtwo
