"""What the cards of a deal were worth: the points that fixed policies make of them (docs/formats.md).

Integers only, no clock and no randomness but what follows from the deal's seed: the same numbers anywhere.
"""
