#include "fake_referee.h"

#include <arpa/inet.h>
#include <grpc/support/log.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "events.h"
#include "google/rpc/details.pb.h"

namespace v1 = referee::v1;

namespace {

const bool SILENT = [] {
    gpr_set_log_function([](gpr_log_func_args*) {});
    return true;
}();

google::rpc::ErrorInfo info(const std::string& reason, const std::string& referee_id) {
    google::rpc::ErrorInfo info;
    info.set_domain(bigtwo::Failure::DOMAIN);
    info.set_reason(reason);
    (*info.mutable_metadata())["referee_id"] = referee_id;
    return info;
}

google::rpc::RetryInfo retry(int delay) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(delay * 1'000'000);
    return retry;
}

template <typename... Details>
grpc::Status with(grpc::StatusCode code, const Details&... details) {
    google::rpc::Status status;
    (status.add_details()->PackFrom(details), ...);
    return grpc::Status(code, "in words", status.SerializeAsString());
}

class Choosing : public bigtwo::Strategy {
public:
    explicit Choosing(Choose choose) : choose_(std::move(choose)) {}
    bigtwo::Cards choose(const bigtwo::Turn& turn) override { return choose_(turn); }

private:
    Choose choose_;
};

}  // namespace

grpc::Status ending::of(grpc::StatusCode code) {
    return grpc::Status(code, "in words");
}

grpc::Status ending::reason(grpc::StatusCode code, const std::string& reason) {
    return with(code, info(reason, ""));
}

grpc::Status ending::again(grpc::StatusCode code, const std::string& reason, int delay) {
    return with(code, info(reason, ""), retry(delay));
}

grpc::Status ending::connected(const std::string& id) {
    return with(grpc::StatusCode::ABORTED, info("ALREADY_CONNECTED", id), retry(0));
}

v1::Referee at(const std::string& id, const std::string& address) {
    v1::Referee referee;
    referee.set_id(id);
    referee.set_address(address);
    return referee;
}

Call::Call(const grpc::CallbackServerContext& context) {
    const auto found = context.client_metadata().find("authorization");
    if (found != context.client_metadata().end()) {
        authorization = std::string(found->second.begin(), found->second.end());
    }
    StartRead(&reading_);
}

void Call::OnReadDone(bool ok) {
    if (ok) {
        requests_.add(std::exchange(reading_, {}));
        StartRead(&reading_);
    } else {
        half_closed_.add(true);
        end(grpc::Status::OK);
    }
}

void Call::OnWriteDone(bool) {
    std::lock_guard lock(mutex_);
    writing_.pop_front();
    write_next();
}

/// Writes what is first, or ends the call once all is written. Called with the lock.
void Call::write_next() {
    if (!writing_.empty()) {
        StartWrite(&writing_.front());
    } else if (status_ && !std::exchange(finished_, true)) {
        Finish(*status_);
    }
}

v1::Move Call::move() {
    const v1::PlayRequest message = request();
    if (message.moves_size() != 1) {
        throw std::runtime_error("not one move: " + message.ShortDebugString());
    }
    return message.moves(0);
}

void Call::send(v1::PlayResponse response) {
    std::lock_guard lock(mutex_);
    writing_.push_back(std::move(response));
    if (writing_.size() == 1) {
        write_next();
    }
}

void Call::ping(unsigned id) {
    v1::PlayResponse response;
    response.mutable_ping()->set_id(id);
    send(std::move(response));
}

void Call::welcome(const std::string& id, const std::vector<v1::Referee>& referees) {
    welcome(hello.max_sessions(), id, referees);
}

void Call::welcome(unsigned share, const std::string& id, const std::vector<v1::Referee>& referees) {
    v1::PlayResponse response;
    v1::Welcome& welcome = *response.mutable_welcome();
    welcome.set_bot("owner/bot@1");
    welcome.set_referee_id(id);
    welcome.set_max_sessions(share);
    welcome.mutable_referees()->Add(referees.begin(), referees.end());
    send(std::move(response));
}

void Call::plays() {
    send(events::response({events::started(), events::dealt("3D"), events::turn()}));
    EXPECT_EQ(move().session(), 7u);
}

void Call::answers_ping() {
    ping(1);
    EXPECT_EQ(request().pong().id(), 1u);
}

void Call::asks(unsigned sessions) {
    const v1::PlayRequest message = request();
    EXPECT_TRUE(message.has_capacity()) << message.ShortDebugString();
    EXPECT_EQ(message.capacity().max_sessions(), sessions);
}

void Call::says_goodbye() {
    EXPECT_TRUE(request().has_goodbye());
    half_closed_.take();
    EXPECT_EQ(requests_.size(), 0u);
}

void Call::end(const grpc::Status& status) {
    std::lock_guard lock(mutex_);
    if (!status_) {
        status_ = status;
        if (writing_.empty()) {
            write_next();
        }
    }
}

FakeReferee::FakeReferee(std::shared_ptr<grpc::ServerCredentials> credentials) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", std::move(credentials), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
}

FakeReferee::~FakeReferee() {
    {
        std::lock_guard lock(mutex_);
        for (const auto& call : all_) {
            call->end(ending::of(grpc::StatusCode::UNAVAILABLE));
        }
    }
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
}

grpc::ServerBidiReactor<v1::PlayRequest, v1::PlayResponse>* FakeReferee::Play(grpc::CallbackServerContext* context) {
    std::lock_guard lock(mutex_);
    Call* call = all_.emplace_back(std::make_unique<Call>(*context)).get();
    calls_.add(call);
    return call;
}

Call& FakeReferee::stream() {
    Call& call = *calls_.take();
    call.hello = call.request().hello();
    EXPECT_EQ(call.authorization, "Bearer secret");
    EXPECT_EQ(call.hello.protocol_version(), 1u);
    EXPECT_TRUE(call.hello.wants().legal_plays());
    return call;
}

std::string FakeReferee::local() const {
    return "localhost" + address.substr(address.rfind(':'));
}

std::string nowhere() {
    const int free = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name);
    bind(free, reinterpret_cast<sockaddr*>(&name), size);
    getsockname(free, reinterpret_cast<sockaddr*>(&name), &size);
    close(free);
    return "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
}

bigtwo::Maker chooses(Choose choose) {
    return [choose](const bigtwo::Session&) { return std::make_unique<Choosing>(choose); };
}

RunningBot::RunningBot(bigtwo::Options options, Choose choose)
    : client(std::move(options), chooses(std::move(choose)), [this](const std::string& line) { news_.add(line); }),
      thread_([this] {
          try {
              client.run();
              ended_.add(nullptr);
          } catch (...) {
              ended_.add(std::current_exception());
          }
      }) {}

RunningBot::~RunningBot() {
    client.leave();
    thread_.join();
}

bigtwo::Options RunningBot::options(std::vector<std::string> addresses) {
    bigtwo::Options options;
    options.token = "secret";
    options.referees = std::move(addresses);
    return options;
}

void RunningBot::leaves(std::initializer_list<Call*> streams) {
    client.leave();
    for (Call* stream : streams) {
        stream->says_goodbye();
    }
    ends();
}

void RunningBot::ends() {
    if (std::exception_ptr failure = ended_.take()) {
        std::rethrow_exception(failure);
    }
}

void RunningBot::told(const std::vector<std::string>& parts) {
    while (true) {
        const std::string line = news_.take();
        if (std::all_of(parts.begin(), parts.end(),
                        [&](const std::string& part) { return line.find(part) != std::string::npos; })) {
            return;
        }
    }
}
