"""Counts that queries read in place of history: what they are, and how they are kept and recounted."""
