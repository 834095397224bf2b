"""Strengths: how many points a deal each bot of a pool is better than the others, and how sure that is."""
