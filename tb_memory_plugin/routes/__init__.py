"""Requests, made into calls of the store and the views, and their results into responses."""
