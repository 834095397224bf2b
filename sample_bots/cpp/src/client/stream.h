#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/options.h"
#include "client/outbox.h"
#include "client/table.h"

namespace grpc {
class ClientContext;
}

namespace bigtwo {

/// One connection to one referee. The thread of play folds events and collects answers, one thread reads and answers
/// pings, one writes, and strategies think on others. So nothing keeps a pong back.
class Stream {
public:
    struct Callbacks {
        Log log;
        /// Is told of each failure of a strategy.
        std::function<void(const StrategyFailed&)> failed;
        /// Is told once of the referee's welcome, on the thread of play.
        std::function<void(const referee::v1::Welcome&, Stream&)> welcomed;
    };

    /// Returns a stream that is opened by play. owes tells whether sessions were open on the stream before this one.
    Stream(std::string address, const Options& options, Maker maker, Pool& pool, Story& story, bool owes,
           Callbacks callbacks);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Plays until the stream ends, and returns why it did.
    Failure play();

    /// Makes the bot take no new session here, and leave when its last one has ended. For the thread of play.
    void finish();
    /// Says goodbye at once. For the thread of play.
    void leave();
    /// Runs something on the thread of play, if the stream has not ended by then; from any thread.
    void post(Work work) { loop_->post(std::move(work)); }
    /// Asks for another number of sessions at once; from any thread.
    void ask(unsigned sessions) { outbox_.ask(sessions); }

    bool welcomed() const { return welcomed_; }
    /// Tells whether sessions are open, here or, before the welcome, on the stream before this one.
    bool owes() const { return owes_; }
    /// Returns the least wait after the end of the stream, where the referee announced that it is closing.
    Milliseconds retry_delay() const;

private:
    referee::v1::Hello hello() const;
    void cancel(const std::string& why);
    void receive(const referee::v1::PlayResponse& response);
    void answer();
    void flush();
    void settle();

    const std::string address_;
    const Options& options_;
    const Callbacks callbacks_;
    const std::shared_ptr<Loop> loop_ = std::make_shared<Loop>();
    Outbox outbox_;
    PoolThinker thinker_;
    Table table_;

    // All below is for the thread of play.
    grpc::ClientContext* context_ = nullptr;
    std::vector<referee::v1::Move> moves_;
    referee::v1::Closing closing_;
    std::string cancelled_;  // why this side ended the call
    bool ended_ = false;
    bool welcomed_ = false;
    bool owes_;
    bool finishing_ = false;
    bool flushing_ = false;
    Work unsettle_ = [] {};
};

}  // namespace bigtwo
