"""The promise of the protocol: recorded sessions of v1, which every later referee and client must play."""
