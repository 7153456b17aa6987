"""An HTTP server in the manner of OpenAI's: one pair of models, one reply at a time."""
