"""What reads conversations: a model, or rules if there is none."""
