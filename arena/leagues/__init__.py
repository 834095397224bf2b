"""Leagues: their files, their members, and when their seasons start and end."""
