#include "client/stream.h"

#include <grpcpp/grpcpp.h>

#include <thread>

#include "referee/v1/bots.grpc.pb.h"

namespace bigtwo {

namespace v1 = referee::v1;

namespace {

constexpr int PROTOCOL_VERSION = 1;
constexpr const char* SDK = "bigtwo-bot c++ 1.0.0";
/// How long answers are kept back while others are thought about.
constexpr Milliseconds FLUSH_AFTER(5);
/// How long the referee is waited for.
constexpr Milliseconds WELCOME_WITHIN(20'000);
/// How long a bot that finishes is without a session before it says goodbye: one may be on its way.
constexpr Milliseconds SETTLE_FOR(500);
/// How long the end of the stream is waited for after a goodbye.
constexpr Milliseconds FAREWELL_WITHIN(3'000);
constexpr int KEEPALIVE_MS = 10'000;
constexpr int KEEPALIVE_TIMEOUT_MS = 5'000;

std::shared_ptr<grpc::ChannelCredentials> credentials(const std::optional<Tls>& tls) {
    if (!tls) {
        return grpc::InsecureChannelCredentials();
    }
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = tls->authorities;
    options.pem_cert_chain = tls->certificate;
    options.pem_private_key = tls->key;
    return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> channel(const std::string& address, const std::optional<Tls>& tls) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as it takes
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    // Else channels to an address share connections, and with them gRPC's own waits before it connects again.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel("dns:///" + address, credentials(tls), arguments);
}

Milliseconds milliseconds(const google::protobuf::Duration& duration) {
    return Milliseconds(duration.seconds() * 1000 + duration.nanos() / 1'000'000);
}

}  // namespace

Stream::Stream(std::string address, const Options& options, Maker maker, Pool& pool, Story& story, bool owes,
               Callbacks callbacks)
    : address_(std::move(address)),
      options_(options),
      callbacks_(std::move(callbacks)),
      thinker_(pool, loop_),
      table_(std::move(maker), thinker_, story, callbacks_.log, callbacks_.failed,
             [this](v1::Move move) { moves_.push_back(std::move(move)); }),
      owes_(owes) {}

Failure Stream::play() {
    auto stub = v1::BotService::NewStub(channel(address_, options_.tls));
    grpc::ClientContext context;
    context_ = &context;
    context.AddMetadata("authorization", "Bearer " + options_.token);
    context.set_initial_metadata_corked(true);  // they go with the hello
    outbox_.hello(hello());
    auto call = stub->Play(&context);
    Work unwatch = loop_->after(WELCOME_WITHIN, [this] { cancel("no welcome came"); });

    std::thread writer([&] {
        bool open = true;
        while (auto request = outbox_.next()) {
            open = open && call->Write(*request);
        }
        if (open) {
            call->WritesDone();
        }
    });
    std::thread reader([&] {
        v1::PlayResponse response;
        while (call->Read(&response)) {
            if (response.has_ping()) {
                outbox_.pong(response.ping().id());
            }
            loop_->post([this, &unwatch, response = std::move(response)] {
                if (response.has_welcome()) {
                    unwatch();
                }
                receive(response);
            });
            response = v1::PlayResponse();
        }
        loop_->post([this] { ended_ = true; });
    });
    while (!ended_) {
        loop_->round();
        answer();
    }
    table_.close();
    outbox_.over();
    writer.join();
    reader.join();
    Failure failure = Failure::of(call->Finish());
    context_ = nullptr;
    if (!cancelled_.empty() && failure.reason.empty()) {
        failure.message = cancelled_;
    }
    return failure;
}

v1::Hello Stream::hello() const {
    v1::Hello hello;
    hello.set_protocol_version(PROTOCOL_VERSION);
    hello.set_sdk(SDK);
    hello.mutable_wants()->set_legal_plays(true);
    if (options_.max_sessions > 0) {
        hello.set_max_sessions(options_.max_sessions);
    }
    return hello;
}

void Stream::cancel(const std::string& why) {
    cancelled_ = why;
    outbox_.over();
    context_->TryCancel();
}

void Stream::receive(const v1::PlayResponse& response) {
    if (response.has_welcome() && !welcomed_) {
        welcomed_ = true;
        outbox_.limit(response.welcome().max_message_bytes());
        callbacks_.welcomed(response.welcome(), *this);
    }
    if (response.has_closing()) {
        closing_ = response.closing();
        callbacks_.log("the referee is closing: " + closing_.reason() + "; it ends within " +
                       std::to_string(closing_.end_delay().seconds()) + " s");
    }
    for (const v1::Event& event : response.events()) {
        table_.take(event);
    }
    if (response.events_size() > 0) {
        owes_ = table_.busy();
        settle();
    }
}

/// Sends the answers that there are, unless more are soon to come.
void Stream::answer() {
    if (moves_.empty() || (flushing_ && table_.thinking())) {
        return;
    }
    if (!table_.thinking()) {
        flush();
        return;
    }
    flushing_ = true;
    loop_->after(FLUSH_AFTER, [this] {
        flushing_ = false;
        flush();
    });
}

void Stream::flush() {
    outbox_.moves(moves_);
    moves_.clear();
}

void Stream::finish() {
    if (finishing_) {
        return;
    }
    if (welcomed_) {
        finishing_ = true;
        outbox_.ask(0);
        settle();
    } else if (!owes_) {
        cancel("the bot has finished");
    }
}

/// Says goodbye after a while without a session, if the bot finishes.
void Stream::settle() {
    unsettle_();
    if (finishing_ && !table_.busy()) {
        unsettle_ = loop_->after(SETTLE_FOR, [this] {
            owes_ = false;
            leave();
        });
    }
}

void Stream::leave() {
    if (!welcomed_) {
        cancel("the bot leaves");
        return;
    }
    flush();
    outbox_.goodbye();
    loop_->after(FAREWELL_WITHIN, [this] { cancel("the bot has left"); });
}

Milliseconds Stream::retry_delay() const {
    return milliseconds(closing_.retry_delay());
}

}  // namespace bigtwo
