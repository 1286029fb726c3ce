"""errata: the post-mortem for LLM eval runs."""

__version__ = "0.1.0"
