"""Comparison: whether one bot is better than another, told as soon as the deals played so far allow it."""
