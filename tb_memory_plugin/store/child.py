"""The process that reads one source into one cache entry, so that a bad file harms nobody else.

Run as ``python -m tb_memory_plugin.store.child`` by ``children``. A request comes as one line of
JSON on standard input, which stays open as long as whoever asked is alive; lines of JSON go out:
``{"fraction", "phase"}``, then ``{"done"}`` or ``{"error": [file, fault, remedy]}``.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_OUT_OF_MEMORY = b'{"memory": true}\n'
_EVERY = 0.05  # seconds between two reports of progress
_PARENT_GONE = 3
_PATIENCE = 600  # seconds that it waits for a request
_GRACE = 30  # seconds after the parent's own time limit

Report = Callable[[float, str], None]


def main() -> int:
    """Serve one request; the exit status, 0 whenever the answer says all there is to say."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing that a library prints gets between the answers
    if hasattr(os, "nice"):
        os.nice(10)
    _load()  # before there is a request: this process may have been started in advance
    line = _asked()
    if not line:
        return 0
    request = json.loads(line)
    _restrain(request)
    threading.Thread(target=_leave_with_parent, daemon=True).start()

    def say(**message: Any) -> None:
        os.write(answers, json.dumps(message).encode() + b"\n")

    from tb_memory_plugin.errors import SourceError

    try:
        _read(request, _sparing(say))
    except SourceError as error:
        if _ran_into(request["memory"], error, Path(request["path"])):
            os.write(answers, _OUT_OF_MEMORY)
        else:
            say(error=[error.file, error.fault, error.remedy])
    except MemoryError:
        os.write(answers, _OUT_OF_MEMORY)
    else:
        say(done=True)
    # Not the usual way out: tearing down a million objects takes longer than reading them.
    os._exit(0)


def _asked() -> bytes:
    """The request; empty where none comes, as nobody wants to read anything, or is there."""
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends this process
        signal.alarm(_PATIENCE)
    line = sys.stdin.buffer.readline()
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    return line


class _WithoutPandas:
    """Arrow imports pandas where there is one, which takes longer than reading most sources."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not used here", name=name)


def _load() -> None:
    sys.meta_path.insert(0, _WithoutPandas())
    import tb_memory_plugin.analysis.derive
    import tb_memory_plugin.readers.registry
    import tb_memory_plugin.views.summary  # noqa: F401


def _read(request: dict[str, Any], report: Report) -> None:
    report(0.0, "starting")
    from tb_memory_plugin.recording.aside import kept_in
    from tb_memory_plugin.recording.recording import save

    # What is mapped counts too.
    _limit_memory(request["memory"] + request.get("mapped", 0))
    entries, path = Path(request["entries"]), Path(request["path"])
    with kept_in(entries):
        if "pair" in request:
            from tb_memory_plugin.store.pair_reading import made

            recording, about = made(request, entries, report)
        else:
            recording = _derived(path, report)
            about = {}
        report(0.85, "summing up")
        about = {**_about(recording, request["key"], path.name), **about}
        report(0.9, "writing")
        try:
            save(recording, entries / f"{request['key']}.tbmem")
            _write(entries / f"{request['key']}.json", json.dumps(about).encode())
        except OSError as error:
            raise _not_written(path.name, error) from error


def _derived(path: Path, report: Report) -> Any:
    from tb_memory_plugin.analysis.derive import derive
    from tb_memory_plugin.errors import SourceError
    from tb_memory_plugin.readers.opening import HEAD, regular_file
    from tb_memory_plugin.readers.registry import reader_of

    with regular_file(path, path.name) as file:
        head = file.read(HEAD)
    reader = reader_of(path.name, head)
    if reader is None:
        raise SourceError(
            path.name,
            "is of no format that is known here",
            "see the list of formats in the documentation",
        )
    recorded = reader.read(path, lambda part, phase: report(0.7 * part, phase))
    report(0.7, "working out lives")
    return derive(recorded)


def _about(recording: Any, key: str, name: str) -> dict[str, Any]:
    """What lists and the first screen say of it."""
    from tb_memory_plugin.views.summary import brief, summary

    return {
        "format": recording.meta["format"],
        "live": bool(recording.meta.get("live")),
        "brief": brief(recording),
        "summary": summary(recording, version=key, run="", name=name),
    }


def _not_written(name: str, error: OSError) -> Exception:
    from tb_memory_plugin.errors import SourceError

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        fault = "was read, but the disk of the cache folder is full"
    else:
        fault = f"was read, but the cache folder cannot be written ({error.strerror or error})"
    return SourceError(
        name, fault, "free some space, or choose another folder with TB_MEMORY_CACHE"
    )


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


def _sparing(say: Callable[..., None]) -> Report:
    last: tuple[float, str] = (0.0, "")

    def report(fraction: float, phase: str) -> None:
        nonlocal last
        now = time.monotonic()
        if phase != last[1] or now - last[0] >= _EVERY:
            last = (now, phase)
            say(fraction=round(fraction, 4), phase=phase)

    return report


def _restrain(request: dict[str, Any]) -> None:
    """Keep this process from using more than it may, and out of everybody's way."""
    if hasattr(signal, "alarm"):
        signal.alarm(int(request["seconds"]) + _GRACE)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        # Should the machine run out of memory all the same, this process goes, not TensorBoard.
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        return


def _limit_memory(most: int) -> None:
    """Let this process take ``most`` bytes beside what its libraries took already."""
    try:
        import resource
    except ImportError:  # Windows
        return
    from tb_memory_plugin.readers.limits import address_space

    limit = most + (address_space() or 0)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _ran_into(limit: int, error: Exception, path: Path) -> bool:
    """Whether a reader ended for want of memory because of the limit, not of what a bomb asks."""
    from tb_memory_plugin.readers.limits import PER_BYTE, SLACK

    wanted = isinstance(error.__cause__, MemoryError)
    return wanted and SLACK + PER_BYTE * path.stat().st_size > limit


def _leave_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(_PARENT_GONE)


if __name__ == "__main__":
    raise SystemExit(main())
