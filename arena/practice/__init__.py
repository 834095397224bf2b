"""Practice: a bot plays sample bots, on a referee of its own; nothing is rated or kept."""
