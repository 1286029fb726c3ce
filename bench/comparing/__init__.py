"""Comparing on a large store: 20 models × 5,000 cases × 10 attempts."""
