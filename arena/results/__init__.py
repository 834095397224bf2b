"""What was played, added up: standings, ratings, strengths and tallies, kept and recomputed."""
