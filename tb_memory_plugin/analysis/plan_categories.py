"""What buffers of a plan are for, as far as names and transformations tell: always a guess."""

from __future__ import annotations

import re

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.plan_schema import BufferKind
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.recording.schema import Category

#: Names of arguments, as JAX spells their way: ``state.opt_state[0].mu['layer']['w']``.
_ARGUMENTS = (
    (
        Category.OPTIMIZER_STATE,
        re.compile(r"opt(imizer)?_?state|\b(adam|mu|nu|momentum|velocity|exp_avg(_sq)?)\b|^[mv]\["),
    ),
    (Category.PARAMETER, re.compile(r"\b(params?|weights?|variables|kernel|bias)\b|^p\[")),
)
_BACKWARD = re.compile(r"transpose\(")
_FORWARD = re.compile(r"\bjvp\(|\bremat|checkpoint")


def categories(recording: Recording, instruction: IntArray, kind: IntArray) -> IntArray:
    """The category of the buffers that ``instruction`` rows define, in allocations of ``kind``.

    Arguments go by their names, without a telling one they are inputs, as constants are. What
    differentiation runs backwards is a gradient, what else is returned an output, what it runs
    forwards an activation, the rest temporary.
    """
    words = arrays.words(recording.table("instructions"), "op")
    codes = arrays.values(recording.table("instructions"), "op")
    of_argument = np.array([*(_argument(word) for word in words), Category.INPUT])
    of_other = np.array([*(_computed(word) for word in words), Category.TEMPORARY])
    code = np.where(instruction >= 0, codes[np.maximum(instruction, 0)], -1) if len(codes) else -1
    code = np.broadcast_to(code, len(kind))
    found = np.where(kind == int(BufferKind.PARAMETER), of_argument[code], of_other[code])
    returned = (kind == int(BufferKind.OUTPUT)) & (found != int(Category.GRADIENT))
    found[returned] = int(Category.OUTPUT)
    found[kind == int(BufferKind.CONSTANT)] = int(Category.INPUT)
    return found


def _argument(op: str) -> Category:
    return next((kind for kind, names in _ARGUMENTS if names.search(op)), Category.INPUT)


def _computed(op: str) -> Category:
    if _BACKWARD.search(op):
        return Category.GRADIENT
    return Category.ACTIVATION if _FORWARD.search(op) else Category.TEMPORARY
