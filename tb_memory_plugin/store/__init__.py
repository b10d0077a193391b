"""Finds sources, has each read once in a child process, and keeps what it became.

Imports nothing by itself: the child process starts here.
"""
