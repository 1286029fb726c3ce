"""What errata sends to addresses that its user names: webhooks."""
