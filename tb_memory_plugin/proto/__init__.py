"""Protobuf messages of other projects, as far as they are read, without generated code."""
