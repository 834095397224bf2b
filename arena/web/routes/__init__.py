"""The API's routes, a module for each resource. A handler reads the request and calls one use case."""
