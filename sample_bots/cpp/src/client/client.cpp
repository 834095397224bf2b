#include "client/client.h"

#include <algorithm>
#include <csignal>
#include <random>

#include "client/unreached.h"

namespace bigtwo {

namespace {

// Waits between attempts to connect: doubling, each drawn at random from half to the whole. They come on top of the
// delay that a referee asks for.
constexpr Milliseconds FIRST_WAIT(100);
constexpr Milliseconds LAST_WAIT(5'000);

Milliseconds drawn(Milliseconds wait) {
    thread_local std::mt19937 random{std::random_device{}()};
    return Milliseconds(std::uniform_int_distribution(wait.count() / 2, wait.count())(random));
}

}  // namespace

Client::Client(Options options, Maker maker, Log log)
    : options_(std::move(options)), maker_(std::move(maker)), log_(std::move(log)), story_(log_) {
    std::signal(SIGPIPE, SIG_IGN);  // a connection that ends, or a log that nobody reads, does not end the program
}

void Client::run() {
    Lock lock(mutex_);
    dial(lock, options_.referees);
    while (!dialled_.empty()) {  // a stream may make the bot meet more referees
        std::thread next = std::move(dialled_.front());
        dialled_.pop_front();
        lock.unlock();
        next.join();
        lock.lock();
    }
    story_.end();
    if (ended_) {
        std::rethrow_exception(ended_);
    }
}

void Client::finish() {
    Lock lock(mutex_);
    finishing_ = true;
    for (Stream* stream : streams_) {
        stream->post([stream] { stream->finish(); });
    }
    told_.notify_all();
}

void Client::leave() {
    Lock lock(mutex_);
    leaving_ = true;
    for (Stream* stream : streams_) {
        stream->post([stream] { stream->leave(); });
    }
    told_.notify_all();
}

void Client::end(std::exception_ptr why) {
    {
        Lock lock(mutex_);
        if (!ended_) {
            ended_ = std::move(why);
        }
    }
    leave();
}

/// Opens a stream to each address that has none.
void Client::dial(const Lock&, const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses) {
        if (referees_.dial(address)) {
            dialled_.emplace_back([this, address] { stay(address); });
        }
    }
}

/// Tells whether a bot that perhaps owes answers tries to be connected.
bool Client::goes_on(const Lock&, bool owes) const {
    return !leaving_ && (owes || !finishing_);
}

/// Keeps a stream to a referee until the bot leaves, is refused, or turns out to be connected to that referee at another
/// address. A bot that finishes comes back only to sessions that are open.
void Client::stay(const std::string& address) {
    const Stream::Callbacks callbacks{
        .log = [&](const std::string& line) { log_("referee " + address + ": " + line); },
        .failed =
            [&](const StrategyFailed& failure) {
                if (options_.strict) {
                    end(std::make_exception_ptr(failure));
                }
            },
        .welcomed =
            [&](const referee::v1::Welcome& welcome, Stream& stream) {
                log_("referee " + address + ": connected as " + welcome.bot() + ", referee " + welcome.referee_id());
                welcomed(address, welcome, stream);
            },
    };
    Milliseconds wait = FIRST_WAIT;
    bool owes = false;
    std::string kind;
    while (true) {
        Stream stream(address, options_, maker_, pool_, story_, owes, callbacks);
        {
            Lock lock(mutex_);
            if (!goes_on(lock, owes)) {
                return;
            }
            streams_.insert(&stream);
        }
        const Failure failure = stream.play();
        owes = stream.owes();
        const auto other = ended(address, stream, failure);
        if (failure.is_final()) {
            end(std::make_exception_ptr(Refused(address, failure)));
            return;
        }
        {
            Lock lock(mutex_);
            if (!goes_on(lock, owes)) {
                return;
            }
        }
        if (other) {
            callbacks.log("not needed, the bot is connected to it at " + *other);
            return;
        }
        if (stream.welcomed()) {
            wait = FIRST_WAIT;
            kind.clear();
        }
        if (failure.kind() != kind) {  // what stays the same is told once
            kind = failure.kind();
            callbacks.log("not connected, trying again: " + why(address, failure));
        }
        const Milliseconds least = std::max(failure.delay.value_or(Milliseconds::zero()), stream.retry_delay());
        Lock lock(mutex_);
        told_.wait_for(lock, least + drawn(wait), [&] { return !goes_on(lock, owes); });
        wait = std::min(2 * wait, LAST_WAIT);
    }
}

/// Says why a stream ended, also where gRPC does not know why it did not come about.
std::string Client::why(const std::string& address, const Failure& failure) const {
    const bool unreached = failure.code == grpc::StatusCode::UNAVAILABLE && failure.reason.empty();
    const auto found = unreached ? why_unreached(address, options_.tls) : std::nullopt;
    return found.value_or(failure.text());
}

void Client::welcomed(const std::string& address, const referee::v1::Welcome& welcome, Stream& stream) {
    Lock lock(mutex_);
    referees_.welcomed(address, welcome, [&stream](unsigned sessions) { stream.ask(sessions); });
    if (finishing_) {
        stream.finish();
        return;
    }
    dial(lock, referees_.missing());
    referees_.share(options_.max_sessions);
}

/// Returns another address at which the bot is connected to the same referee, or none.
std::optional<std::string> Client::ended(const std::string& address, Stream& stream, const Failure& failure) {
    Lock lock(mutex_);
    streams_.erase(&stream);
    auto other = referees_.ended(address, failure);
    if (!finishing_ && !leaving_ && !failure.is_final()) {
        dial(lock, referees_.missing());  // this address may have led to another referee before
        referees_.share(options_.max_sessions);
    }
    return other;
}

}  // namespace bigtwo
