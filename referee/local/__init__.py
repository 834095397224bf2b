"""The local table: bots play each other on one machine, without an arena or an account; nothing is kept."""
