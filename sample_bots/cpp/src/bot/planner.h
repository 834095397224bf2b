#pragma once

#include "bot/pack.h"
#include "bot/view.h"
#include "client/strategy.h"

/// Plans how its hand would be gone in the fewest plays. It chooses the play that brings the plan on most: weak plays
/// while they can be had cheaply, twos and strong combinations when they win something. It knows no rules: it chooses
/// from the plays that the referee lists.
class Planner : public bigtwo::Strategy {
public:
    /// Makes a planner for a session.
    explicit Planner(const bigtwo::Session& session) : session_(session), pack_(session.ruleset()) {}

    bigtwo::Cards choose(const bigtwo::Turn& turn) override;

private:
    bigtwo::Cards exchange(View& view, const std::vector<bigtwo::Cards>& legal) const;
    bigtwo::Cards bomb(const View& view, const std::vector<bigtwo::Cards>& legal) const;
    bigtwo::Cards play(View& view, const bigtwo::Turn& turn) const;
    int passes() const;
    std::vector<bigtwo::Cards> candidates(const View& view, const std::vector<bigtwo::Cards>& legal) const;
    double score(View& view, const bigtwo::Turn& turn, const bigtwo::Cards& play, double now) const;

    const bigtwo::Session& session_;
    const Pack pack_;
};
