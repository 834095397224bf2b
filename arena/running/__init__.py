"""Running an arena and looking after it: checks of an installation, backups, and what they lose."""
