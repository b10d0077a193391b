"""What a program did, for the page: its tracks, windows of them, and what is known of a span."""
