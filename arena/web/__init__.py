"""The arena over HTTP: the API and the web pages, both thin layers over the use cases."""
