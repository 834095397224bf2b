"""Conversion between values and protobuf messages; see docs/protocol.md."""
