"""The network between bots, referees, workers and commands: addresses, channels, why nobody is reached."""
