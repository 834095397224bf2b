"""A ruleset compiled: cards as masks, what they make together, what beats what, and what a hand holds."""
