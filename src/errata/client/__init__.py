"""What errata sends to addresses that its user names: webhooks, and reports of runs that are going on."""
