"""Deals step by step, for people to watch: pure functions of deal records (docs/formats.md)."""
