"""Tournaments: creating, starting, pausing and ending them; bots that enter and leave."""
