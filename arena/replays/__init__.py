"""Deals step by step, as people look at them: pure functions of deal records (docs/formats.md)."""
