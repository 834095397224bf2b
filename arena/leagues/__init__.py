"""Leagues: what one is to be, who is in it, and when its seasons start and end."""
