"""Names of host events of TensorFlow and XLA, as the kind of span that each of them is."""

from __future__ import annotations

import re
from typing import NamedTuple

from tb_memory_plugin.readers.xplane_words import word


class Named(NamedTuple):
    """What a name says: the kind of span, its name without the type, and the operator's type."""

    kind: str
    name: str
    type: str


#: An operator of TensorFlow (xla/tsl/profiler/utils/tf_op_utils.cc): ``name:Type``.
_OP = re.compile(r"([A-Za-z0-9._][A-Za-z0-9_./>-]*):([A-Z_][A-Za-z0-9_]*)")
#: What TensorFlow, XLA and their clients say of themselves (among it what xplane_schema.cc lists).
#: Profiles do not tell it from annotations of the program itself but by its names.
_RUNTIME = re.compile(
    r".*(::|=>)"
    r"|(Pjit|PjRt|PJRT_|Pjrt|Tfrt|TFE_|Eager|Executor|Thunk|Threadpool|XlaCompile|XLA |TPU|Tpu|Gpu"
    r"|hip[A-Z]|cu[A-Z]|cuda[A-Z]|Iterator|Memcpy|Prefetch|Parallel|MapAndBatch|ParseExample"
    r"|HostCallback|OnDevice|Transfer|Linearize|Delinearize|end: )"
    r"|(FunctionRun|SessionRun|RunGraph(Done)?|TraceContext|TfOpRun|KernelLaunch|KernelExecute"
    r"|RecordUsage|Wait for \w+ holds|ThenExecuteCallback|ParseArguments|DevicePut|CheckShape"
    r"|convert_to_tensor|tf\.constant|ValidateInputTypeAndPlacement|RunInvariantCheckers"
    r"|BufferFromPyval|ShardArgs|DoEnqueueProgram|EnqueueContinuationProgram|CompleteCallbacks"
    r"|MapDmaBuffer|RemoteCallOp(Done)?|MemCpyAsync|WriteHbm|ReadHbm|CustomWait|LoadProgram"
    r"|ArrayImpl\..*|ExecuteReplicated\..*|Handle inputs|backend_compile)$",
    re.DOTALL,
)
#: Calls of the drivers and runtimes of GPUs.
_DRIVER = re.compile(r"(hip|cu|cuda)[A-Z]\w*")
_CALL = "$"  # of a function of Python


def named(data: bytes) -> Named:
    """What a host event of this name is: ``op``, ``runtime``, ``annotation`` or ``python``."""
    name = word(data).rstrip() or "event"
    if name.startswith(_CALL):
        return Named("python", name, "")
    found = _OP.fullmatch(name)
    if found is not None:
        return Named("op", found[1], found[2])
    if _DRIVER.fullmatch(name):
        return Named("runtime", name, "")
    return Named("op" if _RUNTIME.match(name) else "annotation", name, "")
