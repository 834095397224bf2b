"""The web pages: templates filled with the results of the use cases that the API calls, too."""
