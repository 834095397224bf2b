"""Running an arena: access tokens, backups, and checks of an installation."""
