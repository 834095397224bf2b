"""The arena over HTTP: an API over the use cases."""
