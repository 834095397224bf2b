"""Sage, the strong house bot: proofs, a scoring policy, playouts in worlds consistent with what was seen."""
