"""What kind of span an event of a Kineto trace is, by its category."""

from __future__ import annotations

#: Kinds of spans by code: first what the program did, then what it had the device do.
KINDS = ("op", "annotation", "python", "step", "module", "runtime", "kernel", "copy")
OP, ANNOTATION, PYTHON, STEP, MODULE, RUNTIME, KERNEL, COPY = range(len(KINDS))

#: By category, as torch wrote it over the years, without regard to case.
_CATEGORIES = {
    "cpu_op": OP,
    "operator": OP,
    "user_annotation": ANNOTATION,
    "python_function": PYTHON,
    "kernel": KERNEL,
    "gpu_memcpy": COPY,
    "gpu_memset": COPY,
    "memcpy": COPY,
    "memset": COPY,
}
#: Of CUDA, HIP, XPU and of what vendors add: "cuda_driver", "privateuse1_runtime".
_CALLS = ("runtime", "driver")


def kind_of(category: str | None) -> int:
    """The code of a category; -1 for what is no span here."""
    word = (category or "").lower()
    if word.rpartition("_")[2] in _CALLS:
        return RUNTIME
    return _CATEGORIES.get(word, -1)
