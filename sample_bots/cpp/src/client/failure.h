#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace bigtwo {

using Milliseconds = std::chrono::milliseconds;

/// Why a stream ended.
struct Failure {
    /// The domain of every reason that comes from a referee.
    static constexpr const char* DOMAIN = "bigtwo.referee";

    grpc::StatusCode code = grpc::StatusCode::OK;
    std::string message;
    /// The name of an ErrorReason without its prefix; empty where gRPC itself or a proxy ended the stream.
    std::string reason;
    /// The referee that has a stream of the bot already; empty for other reasons.
    std::string referee_id;
    /// The least wait before the next attempt; none where the referee names none.
    std::optional<Milliseconds> delay;

    /// Reads why a call ended.
    static Failure of(const grpc::Status& status);

    /// Tells whether another attempt would fail in the same way: the referee gave a reason and no delay.
    bool is_final() const { return !reason.empty() && !delay; }
    /// Returns the reason that the referee gave, or gRPC's code.
    std::string kind() const;
    std::string text() const { return kind() + ": " + message; }
};

/// Says that a referee will not have the bot, and another attempt cannot change that.
class Refused : public std::runtime_error {
public:
    Refused(const std::string& referee, const Failure& failure)
        : std::runtime_error("referee " + referee + " refuses the bot: " + failure.text()), reason_(failure.reason) {}

    /// Returns the name of an ErrorReason without its prefix.
    const std::string& reason() const { return reason_; }

private:
    std::string reason_;
};

/// Says that the strategy of a strict bot failed, where, and how.
class StrategyFailed : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace bigtwo
