"""The promise of the wire: recorded sessions of v1, which every later referee and client must play."""
