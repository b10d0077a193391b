"""Where accelerator memory goes, what leaks and why an allocation failed, in TensorBoard."""

__version__ = "0.1.0"
