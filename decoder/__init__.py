"""decoder: exact speculative decoding across vocabularies, on MLX."""
