"""What a program did beside what memory did: spans laid out, summed and followed."""
