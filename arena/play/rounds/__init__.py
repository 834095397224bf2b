"""What happens next in a tournament: rounds paired, opened, closed, and what they wait for."""
