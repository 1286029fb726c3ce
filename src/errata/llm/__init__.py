"""Asking a language model: pydantic-ai behind one small protocol, and what it costs. The extra `llm` installs it."""
