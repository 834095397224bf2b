"""Accounts of people: signing up and in, keys for programs, owners with several members, invitations."""
