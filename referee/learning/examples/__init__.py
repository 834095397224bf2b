"""A policy learned with nothing but numpy: an example to read, to change and to start from."""
