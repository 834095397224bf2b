"""Finished deals as JSON: written, read, and played again."""
