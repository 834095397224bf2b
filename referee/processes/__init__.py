"""Processes: how they start and end, their signals, consoles and descriptors."""
