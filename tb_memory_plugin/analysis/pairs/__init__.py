"""Two recordings of one process, an allocator's history and a profiler's trace, seen as one."""
