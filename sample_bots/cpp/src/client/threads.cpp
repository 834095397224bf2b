#include "client/threads.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <thread>
#include <typeinfo>

namespace bigtwo {

namespace {

constexpr std::chrono::seconds IDLE(10);

std::string type_name(const std::type_info& type) {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
    return name ? name.get() : type.name();
}

/// Says what is being caught.
std::string caught() {
    try {
        throw;
    } catch (const std::exception& error) {
        return type_name(typeid(error)) + ": " + error.what();
    } catch (...) {
        const std::type_info* type = abi::__cxa_current_exception_type();
        return (type ? type_name(*type) : "something") + " was thrown, which is no std::exception";
    }
}

}  // namespace

void Loop::post(Work work) {
    {
        std::lock_guard lock(mutex_);
        inbox_.push_back(std::move(work));
    }
    posted_.notify_one();
}

Work Loop::after(std::chrono::milliseconds delay, Work work) {
    auto key = std::make_pair(Clock::now() + delay, made_++);
    timers_.emplace(key, std::move(work));
    return [this, key] { timers_.erase(key); };
}

void Loop::round() {
    std::deque<Work> work;
    {
        std::unique_lock lock(mutex_);
        auto has_work = [this] { return !inbox_.empty(); };
        if (timers_.empty()) {
            posted_.wait(lock, has_work);
        } else {
            posted_.wait_until(lock, timers_.begin()->first.first, has_work);
        }
        work.swap(inbox_);
    }
    for (const Work& each : work) {
        each();
    }
    while (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
        timers_.extract(timers_.begin()).mapped()();
    }
}

struct Pool::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> waiting;
    std::size_t idle = 0;
    bool closed = false;

    /// Does work until there is none for a while.
    void work() {
        while (true) {
            Work next;
            {
                std::unique_lock lock(mutex);
                idle++;
                changed.wait_for(lock, IDLE, [this] { return closed || !waiting.empty(); });
                idle--;
                if (waiting.empty()) {
                    return;
                }
                next = std::move(waiting.front());
                waiting.pop_front();
            }
            next();
        }
    }
};

Pool::Pool() : shared_(std::make_shared<Shared>()) {}

Pool::~Pool() {
    std::lock_guard lock(shared_->mutex);
    shared_->closed = true;
    shared_->waiting.clear();
    shared_->changed.notify_all();
}

void Pool::run(Work work) {
    std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back(std::move(work));
    if (shared_->waiting.size() > shared_->idle) {
        std::thread([shared = shared_] { shared->work(); }).detach();
    } else {
        shared_->changed.notify_one();
    }
}

Outcome outcome_of(const Thought& thought) {
    try {
        return {.cards = thought()};
    } catch (abi::__forced_unwind&) {  // this thread is to end
        throw;
    } catch (...) {
        return {.failure = caught()};
    }
}

Work PoolThinker::think(Thought thought, std::optional<std::chrono::milliseconds> limit,
                        std::function<void(const Outcome&)> done) {
    /// What is left to do once the thought is over; used by the loop's thread alone.
    struct Open {
        std::function<void(const Outcome&)> done;
        Work unwatch = [] {};

        void end(const Outcome& outcome) {
            if (auto tell = std::exchange(done, nullptr)) {
                unwatch();
                tell(outcome);
            }
        }
    };
    auto open = std::make_shared<Open>();
    open->done = std::move(done);
    if (limit) {
        open->unwatch = loop_->after(*limit, [open] { open->end({.too_late = true}); });
    }
    pool_.run([thought = std::move(thought), loop = loop_, open] {
        auto tell = [&](Outcome outcome) {
            loop->post([open, outcome = std::move(outcome)] { open->end(outcome); });
        };
        try {
            tell(outcome_of(thought));
        } catch (abi::__forced_unwind&) {
            tell({.failure = "the strategy ended its thread"});
            throw;
        }
    });
    return [open] {
        if (std::exchange(open->done, nullptr)) {
            open->unwatch();
        }
    };
}

}  // namespace bigtwo
