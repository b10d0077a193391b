"""PyTorch's CUDA caching allocator, simulated: the same decisions, without a GPU.

Driven with the sizes, streams and frees of a program, it splits, caches, merges and gives back
memory as the allocator of torch 2.1 and later does, and says so in the structure that
``torch.cuda.memory._snapshot()`` returns. How far that is true is tested by replaying real
snapshots (``tests/demo/test_allocator_replay.py``).

Left out, as nothing recorded needs it: garbage collection of the cache by threshold, memory
fractions, pools to fall back on, allocators plugged into pools, sharing between processes.
"""

from .blocks import Block, OutOfMemory, PoolId
from .caching import CachingAllocator
from .driver import Driver, SimulatedDriver
from .history import History
from .sizes import Settings
from .snapshot import snapshot

__all__ = [
    "Block",
    "CachingAllocator",
    "Driver",
    "History",
    "OutOfMemory",
    "PoolId",
    "Settings",
    "SimulatedDriver",
    "snapshot",
]
