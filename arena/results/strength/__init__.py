"""Strengths: how many points a deal each bot of a pool is better than the others, and how sure that is."""

import os

# With more threads, each call waits for all processors: a pool of 64 bots takes two hundred times as long if
# others use them, too. OpenBLAS reads this when NumPy is imported, which only modules of this package do.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
