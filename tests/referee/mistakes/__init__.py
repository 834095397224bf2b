"""Bots on the wire that each make one mistake, for tests of the check."""
