"""Bots: owners and versions, their checks, their logs."""
