"""What lets anybody check an arena: exports, their verification, and signing keys."""
