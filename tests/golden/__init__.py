"""Files that the engine must reproduce: ``python -m tests.golden check`` or ``regenerate``."""
