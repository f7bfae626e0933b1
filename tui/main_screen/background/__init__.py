"""The main screen's background tasks: git and documents, embedding, learning, the model, checkpoints."""
