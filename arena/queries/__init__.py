"""Questions about results: each function reads what its answer shows, and returns frozen values."""
