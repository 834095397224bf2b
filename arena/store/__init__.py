"""The database: its tables, their history, and transactions."""
