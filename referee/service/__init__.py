"""The gRPC service: starting and stopping, the calls and who may make them, the streams of bots."""
