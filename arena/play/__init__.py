"""Playing tournaments: what happens next in them, and the workers that have matches played."""
