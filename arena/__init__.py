"""Everything around the referee: bots and their owners, tournaments, ratings, storage, the command line."""
