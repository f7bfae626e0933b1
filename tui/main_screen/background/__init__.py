"""What works beside the main screen, a task each: git and documents, embedding, learning, the model, checkpoints."""
