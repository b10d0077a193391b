"""Records the memory of a training job: ``MemoryWriter``. Imports neither torch nor TensorBoard."""

from tb_memory_plugin.recorder.quiet import RecorderWarning
from tb_memory_plugin.recorder.writer import MemoryWriter

__all__ = ["MemoryWriter", "RecorderWarning"]
