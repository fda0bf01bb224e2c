"""OpenMind's built-in embedder: a static model whose weights come in a wheel."""
