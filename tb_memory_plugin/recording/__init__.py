"""The tables every source becomes, and the one file they are kept in."""
