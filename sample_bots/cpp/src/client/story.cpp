#include "client/story.h"

#include <algorithm>

namespace bigtwo {

namespace {

/// Names the other bots, with their ratings where there are any.
std::string others(const Session& session) {
    const auto& ratings = session.started().ratings();
    std::string names;
    for (int seat = 0; seat < session.seats(); seat++) {
        if (seat == session.seat()) {
            continue;
        }
        names += names.empty() ? "" : ", ";
        names += session.started().seats(seat);
        if (seat < ratings.values_size() && seat < ratings.matches_size()) {
            names += ratings.matches(seat) > 0 ? " (" + std::to_string(ratings.values(seat)) + ")" : " (not rated yet)";
        }
    }
    return names;
}

std::string with_sign(int number) {
    return (number < 0 ? "" : "+") + std::to_string(number);
}

}  // namespace

void Story::began(const Session& session) {
    std::lock_guard lock(mutex_);
    news(session);
    if (!may()) {
        begun_++;
        return;
    }
    const auto& started = session.started();
    log_((started.resumed() ? "session goes on " : "session begins ") + started.session_id() + ": tournament " +
         started.tournament() + ", seat " + std::to_string(session.seat()) + ", against " + others(session) + ", " +
         session.ruleset().name);
}

void Story::ended(const Session& session, const referee::v1::SessionEnded& message) {
    std::lock_guard lock(mutex_);
    const bool is_void = session.seat() >= message.scores_size();
    const int score = is_void ? 0 : message.scores(session.seat());
    if (!may()) {
        ended_++;
        points_ += score;
        return;
    }
    const std::string& id = session.started().session_id();
    if (is_void) {
        log_("session " + id + " is void, it may be continued later");
        return;
    }
    const auto& scores = message.scores();
    auto place = 1 + std::count_if(scores.begin(), scores.end(), [&](int other) { return other > score; });
    log_("session " + id + " has ended: points " + std::to_string(score) + ", place " + std::to_string(place) + " of " +
         std::to_string(scores.size()));
}

void Story::end() {
    std::lock_guard lock(mutex_);
    tell_counted();
}

void Story::tell_counted() {
    if (begun_ > 0 || ended_ > 0) {
        log_("not shown one by one: " + std::to_string(begun_) + " begun, " + std::to_string(ended_) +
             " ended, points " + std::to_string(points_));
    }
    begun_ = ended_ = points_ = 0;
}

/// Tells of the bot's rating where there is one, the first time and whenever a match was added to it.
void Story::news(const Session& session) {
    const auto& ratings = session.started().ratings();
    const int seat = session.seat();
    if (seat >= ratings.values_size() || seat >= ratings.matches_size()) {
        return;
    }
    const Rating now{ratings.values(seat), ratings.matches(seat)};
    auto [before, is_new] = rated_.try_emplace(ratings.pool(), now);
    if (!is_new && now.matches <= before->second.matches) {  // also of a match that was handed out earlier
        return;
    }
    if (now.matches == 0) {
        log_("not rated yet in " + ratings.pool() + ", begins with " + std::to_string(now.value));
    } else {
        std::string change = is_new ? "" : " (" + with_sign(now.value - before->second.value) + ")";
        log_("rated " + std::to_string(now.value) + change + " in " + ratings.pool());
    }
    before->second = now;
}

/// Tells whether a line may be written; at the end of a period it tells in one line what was only counted.
bool Story::may() {
    if (now_() >= period_ends_) {
        period_ends_ = now_() + PERIOD;
        lines_ = 0;
        tell_counted();
    }
    return ++lines_ <= MOST_LINES;
}

}  // namespace bigtwo
