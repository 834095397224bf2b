#include "client/failure.h"

#include "google/rpc/details.pb.h"

namespace bigtwo {

namespace {

const char* name(grpc::StatusCode code) {
    static constexpr const char* NAMES[] = {
        "OK",           "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",  "DEADLINE_EXCEEDED",
        "NOT_FOUND",    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",      "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS",    "UNAUTHENTICATED",
    };
    return code >= 0 && code <= grpc::StatusCode::UNAUTHENTICATED ? NAMES[code] : "UNKNOWN";
}

}  // namespace

Failure Failure::of(const grpc::Status& status) {
    Failure failure;
    failure.code = status.error_code();
    failure.message = status.ok() ? "the referee ended the stream" : status.error_message();
    google::rpc::Status details;
    if (!details.ParseFromString(status.error_details())) {
        return failure;
    }
    for (const auto& detail : details.details()) {
        google::rpc::ErrorInfo info;
        google::rpc::RetryInfo retry;
        if (detail.UnpackTo(&info) && info.domain() == DOMAIN) {
            failure.reason = info.reason();
            auto id = info.metadata().find("referee_id");
            failure.referee_id = id == info.metadata().end() ? "" : id->second;
        } else if (detail.UnpackTo(&retry)) {
            const auto& delay = retry.retry_delay();
            failure.delay = Milliseconds(delay.seconds() * 1000 + delay.nanos() / 1'000'000);
        }
    }
    return failure;
}

std::string Failure::kind() const {
    return reason.empty() ? name(code) : reason;
}

}  // namespace bigtwo
