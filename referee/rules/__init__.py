"""A compiled ruleset: cards as masks, what they form together, what beats what, and what a hand holds."""
