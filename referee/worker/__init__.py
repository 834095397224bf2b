"""What is generated for the arena's workers; no promise, see proto/referee/worker."""
