#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "referee/v1/bots.pb.h"

namespace bigtwo {

/// The messages that a stream is to send, from any thread: gRPC takes one at a time, from one thread.
class Outbox {
public:
    /// Sets how many bytes a message may have.
    void limit(std::size_t bytes);
    void hello(const referee::v1::Hello& hello);
    void pong(std::uint32_t id);
    /// Asks for another number of sessions at once.
    void ask(std::uint32_t sessions);
    /// Sends moves in as few messages as it can.
    void moves(const std::vector<referee::v1::Move>& moves);
    /// Says goodbye; nothing more is sent.
    void goodbye();
    /// Sends nothing more, since the call is over.
    void over();

    /// Waits for the next message; returns none when it was the last one.
    std::optional<referee::v1::PlayRequest> next();

private:
    void send(referee::v1::PlayRequest request);

    /// Holds any move, whatever the welcome says.
    static constexpr std::size_t SMALLEST_LIMIT = 4096;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<referee::v1::PlayRequest> waiting_;
    std::size_t limit_ = SMALLEST_LIMIT;
    bool closed_ = false;
};

}  // namespace bigtwo
