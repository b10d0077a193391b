"""A profiler's trace of a run on a simulated GPU, in the form in which Kineto exports one.

What the program did is the recording's: operators, modules, annotations and Python stacks, with
what runs backward on a thread of its own, as with a GPU. What the GPU did is made up by rule:
an operator that computes launches a kernel, which takes three quarters of the time that the CPU
took; what ``batch`` makes is copied by a stream of its own; numbers that are asked for are copied
back.
"""

from .clock import Clock
from .device import Work, work
from .events import Writer
from .program import Program, program

__all__ = ["Clock", "Program", "Work", "Writer", "program", "work"]
