"""Suspect tasks: how many planted faults the list names, and how many fair tasks it names beside them."""
