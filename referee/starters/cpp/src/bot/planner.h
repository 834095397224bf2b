#pragma once

#include "client/strategy.h"

/// Your bot in one session. It knows no rules: it chooses from the plays that the referee lists.
class Planner : public bigtwo::Strategy {
public:
    /// Makes your bot for a session: its ruleset, its seats, and what has happened so far.
    explicit Planner(const bigtwo::Session& session) : session_(session) {}

    /// Returns one of the legal plays, or no cards for a pass.
    bigtwo::Cards choose(const bigtwo::Turn& turn) override;

private:
    const bigtwo::Session& session_;
};
