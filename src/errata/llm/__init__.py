"""Ask a language model: pydantic-ai behind one small protocol, with costs. Installed by the extra `llm`."""
