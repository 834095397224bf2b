"""What the arena does: each function is one use case on the database, in short transactions.

CLI, tasks and tests call these. None knows a terminal or Celery, and what goes over the network goes through
what the caller hands in. But for two that ask for themselves: ``doctor`` tries referees and the broker, and
``waiting`` asks referees what a match waits for.
"""
