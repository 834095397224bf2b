"""Tournaments: created, started, paused, ended, entered and left."""
