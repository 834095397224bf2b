"""The game, the table and the wire; ``docs/architecture.md`` tells where everything is."""

import os

# gRPC's core writes lines of its own to standard error; what they tell, our errors and logs say.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
