"""Exports: a tournament as one file that proves itself. ``lines`` and ``parts`` are its format."""
