"""Comparison: scores under several policies, with their intervals. Pure functions."""
