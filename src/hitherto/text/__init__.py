"""What can be read from words alone: numbers, times, names. No store, no model, nothing of ours below it but types."""
