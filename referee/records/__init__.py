"""Finished deals as JSON: written, read, and replayed."""
