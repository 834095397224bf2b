"""The local table: bots play each other on one machine, with no arena, no account and nothing kept."""
