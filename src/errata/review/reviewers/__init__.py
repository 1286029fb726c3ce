"""Reviewers that are asked by a call: a language model, and any program that reads a packet and prints a verdict."""
