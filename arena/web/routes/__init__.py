"""The API's routes, a module for each thing. A handler reads the request and calls one use case."""
