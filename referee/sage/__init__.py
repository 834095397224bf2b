"""Sage, the strong house bot: proofs, a scored policy, playouts in worlds that agree with what was seen."""
