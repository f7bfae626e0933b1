"""Clients of Ollama and of OpenAI-compatible servers: transport, deadlines, errors. No prompts."""
