"""A policy learned with numpy alone: to read, to change, and to begin with."""
