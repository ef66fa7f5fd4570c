"""Finds the turns and facts that answer a message: pure functions over what a store hands in."""
