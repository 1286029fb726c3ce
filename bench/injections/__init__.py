"""Prompt injections in logs: do they get a verdict accepted that the evidence does not carry?"""
