"""Measurements, each beside an alternative in one run; results are in docs/performance.md."""
