"""What reads conversations: a model, and rules where there is none."""
