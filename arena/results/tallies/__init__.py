"""Counts that queries read instead of history: what they are, and how they are stored and recounted."""
