"""The rules, the table and the wire; ``docs/architecture.md`` says where everything is."""

import os

# What gRPC's core reads when grpc is imported:
# It would write lines of its own to standard error; our errors and logs say what these would.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# With the polling from before its event engine, a message passes through fewer threads, which saves a quarter
# of the CPU time of a lone one (benchmarks/referee.py). A core that does not know this setting ignores it.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
