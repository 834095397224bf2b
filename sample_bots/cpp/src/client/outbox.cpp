#include "client/outbox.h"

#include <algorithm>

namespace bigtwo {

namespace v1 = referee::v1;

namespace {

/// The most bytes that a move has in a message besides its own: a tag and a length.
constexpr std::size_t AROUND_MOVE = 6;

}  // namespace

void Outbox::limit(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    limit_ = std::max(SMALLEST_LIMIT, bytes);
}

void Outbox::hello(const v1::Hello& hello) {
    v1::PlayRequest request;
    *request.mutable_hello() = hello;
    send(std::move(request));
}

void Outbox::pong(std::uint32_t id) {
    v1::PlayRequest request;
    request.mutable_pong()->set_id(id);
    send(std::move(request));
}

void Outbox::ask(std::uint32_t sessions) {
    v1::PlayRequest request;
    request.mutable_capacity()->set_max_sessions(sessions);
    send(std::move(request));
}

void Outbox::moves(const std::vector<v1::Move>& moves) {
    v1::PlayRequest batch;
    std::size_t size = 0;
    for (const v1::Move& move : moves) {
        const std::size_t bytes = move.ByteSizeLong() + AROUND_MOVE;
        if (size > 0 && size + bytes > limit_) {
            send(std::exchange(batch, {}));
            size = 0;
        }
        *batch.add_moves() = move;
        size += bytes;
    }
    if (size > 0) {
        send(std::move(batch));
    }
}

void Outbox::goodbye() {
    v1::PlayRequest request;
    request.mutable_goodbye();
    send(std::move(request));
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
}

void Outbox::over() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
    changed_.notify_one();
}

void Outbox::send(v1::PlayRequest request) {
    std::lock_guard lock(mutex_);
    if (!closed_) {
        waiting_.push_back(std::move(request));
        changed_.notify_one();
    }
}

std::optional<v1::PlayRequest> Outbox::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) {
        return std::nullopt;
    }
    v1::PlayRequest request = std::move(waiting_.front());
    waiting_.pop_front();
    return request;
}

}  // namespace bigtwo
