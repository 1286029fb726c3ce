"""Runs: importing them, finding them by name, and one view of each."""
