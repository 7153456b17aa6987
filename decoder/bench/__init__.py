"""Measuring the decoder: the grid of drafts × translations × k over prompts, beside plain decoding."""
