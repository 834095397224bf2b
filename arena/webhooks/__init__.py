"""Webhooks: organisers are told over HTTP what happens in their tournaments."""
