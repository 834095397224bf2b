"""Deals and sessions: dealing, whose turn it is, what is legal, how a deal ends and what it is worth."""
