"""What the arena does: each function is one use case on the database, in short transactions.

CLI, tasks and tests call these; nothing here knows Celery, gRPC or a terminal.
"""
