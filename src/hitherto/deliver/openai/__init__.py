"""An OpenAI-compatible endpoint with a memory: requests are given what is known of the user and passed on to an upstream
server; what is new in them, and the answers, are recorded.
"""
