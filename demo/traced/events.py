"""The events of a trace, as Kineto writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .device import CALLS, COMPUTE, COPIES, Work
from .program import ENGINE, MAIN, Program, Span

Json = dict[str, Any]

#: The process; that of the GPU's tracks is the number of the device.
PROCESS, DEVICE = 1, 0
_CORRELATION = 1_000  # of the first call of the runtime


class Writer:
    """Makes events out of what happened; ``stamp`` makes µs of a trace out of ns since 1970."""

    def __init__(self, program: Program, stamp: Callable[[int], float]) -> None:
        self._program, self._stamp = program, stamp
        done = [span for span in program.spans.values() if span.kind != "module"]
        self._external = {span.row: number for number, span in enumerate(done, start=1)}
        self._sequence: dict[int, tuple[int, int]] = {}
        for number, (source, target) in enumerate(program.backward):
            self._sequence.setdefault(source.row, (number, 0))
            self._sequence.setdefault(target.row, (number, MAIN))

    def program(self) -> list[Json]:
        """Operators, steps and annotations."""
        found = []
        for span in self._program.spans.values():
            if span.kind == "module":
                continue
            number = self._external[span.row]
            args: Json = {"External id": number, "Record function id": 0, "Ev Idx": number - 1}
            if span.shapes:
                args["Input Dims"] = span.shapes
            if span.row in self._sequence:
                args["Sequence number"], args["Fwd thread id"] = self._sequence[span.row]
            category = "cpu_op" if span.kind == "op" else "user_annotation"
            found.append(self._whole(span, category, span.name, args))
        return found

    def python(self, first: int) -> list[Json]:
        """Functions and modules, each with the one that it was called in; ``first`` is a number."""
        calls = [(each.begin, -each.end, each.name, "") for each in self._program.calls]
        modules = [span for span in self._program.spans.values() if span.kind == "module"]
        calls += [(each.begin, -each.end, f"nn.Module: {each.name}", each.name) for each in modules]
        numbers = {name: at for at, name in enumerate(dict.fromkeys(m.name for m in modules))}
        around: list[tuple[int, int]] = []
        found = []
        for at, (begin, end, name, module) in enumerate(sorted(calls), start=1):
            while around and around[-1][1] <= begin:
                around.pop()
            args: Json = {"Python parent id": around[-1][0] if around else None, "Python id": at}
            if module:
                args["Python module id"] = numbers[module]
            args["Ev Idx"] = first + at - 1
            found.append(self._event("python_function", name, MAIN, begin, -end, args))
            around.append((at, -end))
        return found

    def device(self, done: list[Work]) -> list[Json]:
        """Calls of the runtime, what the GPU did, and the arrows between them."""
        found = []
        for number, each in enumerate(done, start=_CORRELATION):
            external = {"External id": self._external[each.operator.row]}
            thread, same = each.operator.thread, {"correlation": number}
            args = {**external, "cbid": CALLS[each.call], **same}
            call = self._event("cuda_runtime", each.call, thread, each.called, each.returned, args)
            where = {"device": DEVICE, "context": 1, "stream": each.stream, **same}
            queued = {"queued": 0} if each.category == "kernel" else {}
            args = {**external, **queued, **where, **each.args}
            ran = self._event(each.category, each.name, each.stream, each.begin, each.end, args)
            ran["pid"] = DEVICE
            found += [call, self._end("s", number, "ac2g", call)]
            found += [ran, self._end("f", number, "ac2g", ran)]
        return found + self._annotations(done)

    def backward(self) -> list[Json]:
        """Arrows from operators to what ran backward for them."""
        found = []
        for number, ends in enumerate(self._program.backward, start=1):
            for phase, span in zip("sf", ends, strict=True):
                at = {"pid": PROCESS, "tid": span.thread, "ts": self._stamp(span.begin)}
                found.append(self._end(phase, number, "fwdbwd", at))
        return found

    def about(self) -> list[Json]:
        """Names of processes and threads."""
        names = [(PROCESS, 0, "process_name", {"name": "python3"})]
        names += [(PROCESS, 0, "process_labels", {"labels": "CPU"})]
        names += [(DEVICE, 0, "process_name", {"name": "python3"})]
        names += [(DEVICE, 0, "process_labels", {"labels": "GPU 0"})]
        for thread in (MAIN, ENGINE):
            names += [(PROCESS, thread, "thread_name", {"name": f"thread {thread} (python3)"})]
        for stream in (COMPUTE, COPIES):
            names += [(DEVICE, stream, "thread_name", {"name": f"stream {stream} "})]
        return [
            {"name": name, "ph": "M", "ts": 0, "pid": process, "tid": thread, "args": args}
            for process, thread, name, args in names
        ]

    def _annotations(self, done: list[Work]) -> list[Json]:
        """Steps and annotations as the GPU saw them: from the first to the last that they asked."""
        found = []
        for span in self._program.spans.values():
            if span.kind not in ("annotation", "step"):
                continue
            inside = [each for each in done if span.begin <= each.called < span.end]
            for stream in sorted({each.stream for each in inside}):
                on = [each for each in inside if each.stream == stream]
                begin, end = min(each.begin for each in on), max(each.end for each in on)
                args = {"External id": self._external[span.row]}
                event = self._event("gpu_user_annotation", span.name, stream, begin, end, args)
                found.append({**event, "pid": DEVICE})
        return found

    def _whole(self, span: Span, category: str, name: str, args: Json) -> Json:
        return self._event(category, name, span.thread, span.begin, span.end, args)

    def _event(
        self, category: str, name: str, thread: int, begin: int, end: int, args: Json
    ) -> Json:
        first = self._stamp(begin)
        times = {"ts": first, "dur": round(self._stamp(end) - first, 3)}
        about = {"ph": "X", "cat": category, "name": name, "pid": PROCESS, "tid": thread}
        return {**about, **times, "args": args}

    def _end(self, phase: str, number: int, category: str, at: Json) -> Json:
        where = {name: at[name] for name in ("pid", "tid", "ts")}
        event = {"ph": phase, "id": number, **where, "cat": category, "name": category}
        return event if phase == "s" else {**event, "bp": "e"}
