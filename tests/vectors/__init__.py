"""The test vectors that ship with bigtwo-bot: making them, and holding them to planted faults."""
