"""The rules, the table and the wire; ``docs/architecture.md`` tells where everything is."""

import os

# What gRPC's core reads when grpc is imported:
# It writes lines of its own to standard error; what they tell, our errors and logs say.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# Polled as before its event engine, a message passes through fewer threads, which is worth a quarter of the
# CPU time of a lone one (benchmarks/referee.py). A core that does not know this goes on as it likes.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
