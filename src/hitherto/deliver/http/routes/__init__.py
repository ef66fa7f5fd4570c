"""The routes, one module for each noun."""
