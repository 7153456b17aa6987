"""Other engines, run beside ours in environments of their own."""
