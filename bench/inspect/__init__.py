"""Importing an Inspect log beside what inspect-ai itself takes to read it."""

MESSAGES = 20
"""Of each sample."""
