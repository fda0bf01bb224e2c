"""OpenMind's LM Studio provider: models, embeddings, chat and image descriptions."""
