"""Reading what people write: TOML files, names, and what is wrong with values, in words."""
