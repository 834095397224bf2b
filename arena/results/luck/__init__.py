"""What cards were worth by the reference, computed by workers, and what follows from that for bots."""
