#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "referee/v1/bots.grpc.pb.h"

/// What one thread gives to another.
template <typename Thing>
class Queue {
public:
    void add(Thing thing) {
        std::lock_guard lock(mutex_);
        things_.push_back(std::move(thing));
        added_.notify_all();
    }

    /// Waits for the next one, which must come.
    Thing take() {
        std::unique_lock lock(mutex_);
        if (!added_.wait_for(lock, std::chrono::seconds(20), [this] { return !things_.empty(); })) {
            throw std::runtime_error("nothing came");
        }
        Thing thing = std::move(things_.front());
        things_.pop_front();
        return thing;
    }

    std::size_t size() {
        std::lock_guard lock(mutex_);
        return things_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable added_;
    std::deque<Thing> things_;
};

/// The statuses with which a referee ends a call.
namespace ending {

grpc::Status of(grpc::StatusCode code);
/// With a reason, where trying again cannot help.
grpc::Status reason(grpc::StatusCode code, const std::string& reason);
/// With a reason, and after how many milliseconds to try again.
grpc::Status again(grpc::StatusCode code, const std::string& reason, int delay);
/// The bot is connected to the referee with this id already.
grpc::Status connected(const std::string& id);

}  // namespace ending

referee::v1::Referee at(const std::string& id, const std::string& address);

/// The referee's side of a stream.
class Call : public grpc::ServerBidiReactor<referee::v1::PlayRequest, referee::v1::PlayResponse> {
public:
    explicit Call(const grpc::CallbackServerContext& context);

    /// Returns the next message.
    referee::v1::PlayRequest request() { return requests_.take(); }
    /// Returns the next move, which must be the only one of its message.
    referee::v1::Move move();
    void send(referee::v1::PlayResponse response);
    void ping(unsigned id);
    /// Welcomes the bot as the referee with this id, in an arena of these referees.
    void welcome(const std::string& id, const std::vector<referee::v1::Referee>& referees = {});
    void welcome(unsigned share, const std::string& id, const std::vector<referee::v1::Referee>& referees);
    /// Fails unless the bot answers a turn.
    void plays();
    /// Makes sure that the bot has read what was sent before.
    void answers_ping();
    /// Fails unless the bot asks for so many sessions.
    void asks(unsigned sessions);
    /// Fails unless the bot says goodbye and ends its side of the stream.
    void says_goodbye();
    void end(const grpc::Status& status);

    referee::v1::Hello hello;
    std::string authorization;

private:
    void OnReadDone(bool ok) override;
    void OnWriteDone(bool ok) override;
    void OnDone() override {}
    void write_next();

    Queue<referee::v1::PlayRequest> requests_;
    Queue<bool> half_closed_;
    referee::v1::PlayRequest reading_;
    std::mutex mutex_;
    std::deque<referee::v1::PlayResponse> writing_;
    std::optional<grpc::Status> status_;  // once it is to end
    bool finished_ = false;
};

/// A referee that hands every stream to the test.
class FakeReferee : public referee::v1::BotService::CallbackService {
public:
    explicit FakeReferee(std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());
    ~FakeReferee() override;

    /// Takes the bot's next stream and its hello.
    Call& stream();
    /// Fails if the bot has opened a stream that was not taken.
    void no_other() { EXPECT_EQ(calls_.size(), 0u); }
    /// Returns the same address in another spelling.
    std::string local() const;

    std::string address;

private:
    grpc::ServerBidiReactor<referee::v1::PlayRequest, referee::v1::PlayResponse>* Play(
        grpc::CallbackServerContext* context) override;

    std::unique_ptr<grpc::Server> server_;
    Queue<Call*> calls_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Call>> all_;
};

/// Returns an address that nobody listens at.
std::string nowhere();

/// A strategy that is a function.
using Choose = std::function<bigtwo::Cards(const bigtwo::Turn&)>;
bigtwo::Maker chooses(Choose choose);
inline bigtwo::Cards first(const bigtwo::Turn& turn) {
    return turn.legal.at(0);
}

/// A bot that runs until the test's end, or is told to finish or to leave.
class RunningBot {
public:
    /// Runs a bot that plays the first legal play at these addresses.
    template <typename... Addresses>
    explicit RunningBot(const std::string& address, const Addresses&... more)
        : RunningBot(options({address, more...})) {}
    explicit RunningBot(bigtwo::Options options, Choose choose = first);
    ~RunningBot();

    static bigtwo::Options options(std::vector<std::string> addresses);

    /// Tells the bot to leave at once; fails unless it says goodbye on these streams, and ends well.
    void leaves(std::initializer_list<Call*> streams);
    /// Waits for the bot's end, which must be a good one.
    void ends();
    /// Waits for the bot's end, which must be a failure of this class.
    template <typename Failure>
    Failure fails() {
        try {
            std::rethrow_exception(ended_.take());
        } catch (const Failure& failure) {
            return failure;
        }
    }
    /// Waits for a line of news that has these parts.
    void told(const std::vector<std::string>& parts);
    /// Returns how many lines of news nobody waited for yet.
    std::size_t untold() { return news_.size(); }

private:
    Queue<std::string> news_;
    Queue<std::exception_ptr> ended_;

public:
    bigtwo::Client client;

private:
    std::thread thread_;
};
