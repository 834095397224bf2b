#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client/referees.h"
#include "client/stream.h"

namespace bigtwo {

/// A bot's side of the Play stream: it connects to every referee of an arena, keeps the state of every session, answers
/// pings, batches moves, connects again and leaves politely. What to play is a strategy's matter.
class Client {
public:
    /// Returns a bot; log takes lines of news, from any thread.
    Client(Options options, Maker maker, Log log);

    /// Plays until it is told to finish, and returns when the last session has ended; until it is told to leave, and
    /// returns at once. Throws Refused as soon as one of the referees will not have the bot, and StrategyFailed when the
    /// strategy of a strict bot fails.
    void run();
    /// Makes the bot take no new session, and leave when its last one has ended; from any thread.
    void finish();
    /// Makes the bot say goodbye and leave at once; from any thread.
    void leave();

private:
    using Lock = std::unique_lock<std::mutex>;

    void dial(const Lock& lock, const std::vector<std::string>& addresses);
    void stay(const std::string& address);
    void end(std::exception_ptr why);
    bool goes_on(const Lock& lock, bool owes) const;
    void welcomed(const std::string& address, const referee::v1::Welcome& welcome, Stream& stream);
    std::optional<std::string> ended(const std::string& address, Stream& stream, const Failure& failure);
    std::string why(const std::string& address, const Failure& failure) const;

    const Options options_;
    const Maker maker_;
    const Log log_;
    Story story_;
    Pool pool_;

    std::mutex mutex_;
    // All below is guarded by it.
    std::condition_variable told_;
    Referees referees_;
    std::set<Stream*> streams_;
    std::deque<std::thread> dialled_;  // those that nobody waits for yet
    bool finishing_ = false;
    bool leaving_ = false;
    std::exception_ptr ended_;  // why the bot ends on its own
};

}  // namespace bigtwo
