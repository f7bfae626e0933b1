"""The wire: clients of Ollama and of OpenAI-compatible servers, deadlines, what their errors mean. No prompts."""
