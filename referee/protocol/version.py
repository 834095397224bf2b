"""What the referee and its clients agree on; see docs/protocol.md."""

PROTOCOL_VERSION = 1
"""What a hello names."""
MAX_MESSAGE_BYTES = 1 << 20
"""Largest message that the referee takes, and about the largest that it sends."""
