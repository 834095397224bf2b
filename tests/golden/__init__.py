"""Files that the engine must go on giving unchanged: ``python -m tests.golden check`` or ``regenerate``."""
