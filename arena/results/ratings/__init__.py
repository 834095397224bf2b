"""Ratings: Elo for tables, applied when a round closes, rebuilt from the deals."""
