"""Pure functions from a recording to what it means: lives, usage, groups, facts."""

#: Version of the derived tables. Part of the cache's key: raise it when their meaning changes.
ANALYSIS_VERSION = 23
