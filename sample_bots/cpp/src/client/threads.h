#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "client/cards.h"

namespace bigtwo {

using Work = std::function<void()>;

/// What one thread does: work that it is handed by any thread, and what is due after a while.
class Loop {
public:
    /// Hands over work; from any thread. After the last round it is never done.
    void post(Work work);

    /// Does something after a while; returns what cancels it. Both are for the loop's thread.
    Work after(std::chrono::milliseconds delay, Work work);
    /// Waits for work, and does all that there is.
    void round();

private:
    using Clock = std::chrono::steady_clock;

    std::mutex mutex_;
    std::condition_variable posted_;
    std::deque<Work> inbox_;
    std::map<std::pair<Clock::time_point, int>, Work> timers_;  // by when they are due, and their number
    int made_ = 0;
};

/// Threads that are started as they are needed, so that no work waits for another. Work that never ends keeps its thread
/// until the program ends, and nobody waits for it.
class Pool {
public:
    Pool();
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void run(Work work);

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

/// What came of a thought.
struct Outcome {
    Cards cards{};
    /// How it failed; empty where it did not.
    std::string failure{};
    /// Whether nothing came in time.
    bool too_late = false;
};

using Thought = std::function<Cards()>;

/// Has strategies think, so that those who wait for the answers can do other things.
class Thinker {
public:
    virtual ~Thinker() = default;
    /// Begins to think. done is called once, as by the caller, with a thought or why there is none; after the returned
    /// function is called, it is not called. Without a limit it is never too late.
    virtual Work think(Thought thought, std::optional<std::chrono::milliseconds> limit,
                       std::function<void(const Outcome&)> done) = 0;
};

/// Returns the outcome of a thought that is waited for.
Outcome outcome_of(const Thought& thought);

/// Thinks on the threads of a pool, for one who does everything in a loop.
class PoolThinker : public Thinker {
public:
    PoolThinker(Pool& pool, std::shared_ptr<Loop> loop) : pool_(pool), loop_(std::move(loop)) {}

    Work think(Thought thought, std::optional<std::chrono::milliseconds> limit,
               std::function<void(const Outcome&)> done) override;

private:
    Pool& pool_;
    std::shared_ptr<Loop> loop_;
};

}  // namespace bigtwo
