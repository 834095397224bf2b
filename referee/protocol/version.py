"""What the referee and its clients agree on; see docs/protocol.md."""

PROTOCOL_VERSION = 1
"""The version that a hello names."""
MAX_MESSAGE_BYTES = 1 << 20
"""The largest message that the referee accepts, and about the largest that it sends."""
