"""Running an arena: access tokens, and checks of an installation."""
