"""The pages that people look at: templates filled with what the API answers, by the same use cases."""
