"""The engine on PyTorch's profiler: allocation events on any device, a plain CPU included."""
