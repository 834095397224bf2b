"""Generated code for the arena's workers; no stable interface, see proto/referee/worker."""
