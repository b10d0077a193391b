"""A folder with a session in it, made into a line for each of its hosts or ranks."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from tb_memory_plugin.api import LoadedRecording, choose_device
from tb_memory_plugin.cli import text
from tb_memory_plugin.cli.progress import Progress
from tb_memory_plugin.errors import MemoryPluginError, SourceError
from tb_memory_plugin.store.discovery import Found, walk
from tb_memory_plugin.store.load import load_path
from tb_memory_plugin.store.probing import Probes
from tb_memory_plugin.store.roots import roots_of
from tb_memory_plugin.store.sessions import Place, Session, natural, sessions
from tb_memory_plugin.store.settings import default_workers
from tb_memory_plugin.units import format_bytes
from tb_memory_plugin.views.summary import default_grouping, summary

#: What is said of a host's recording, with ``bytes`` and ``device`` among it.
Told = Callable[[LoadedRecording], dict[str, Any]]


def info(arguments: argparse.Namespace) -> int:
    """``tb-memory info FOLDER``. Raises SourceError where no session is in it."""
    return _run(arguments, _peak)


def peak(arguments: argparse.Namespace) -> int:
    """``tb-memory peak FOLDER``. Raises SourceError where no session is in it."""

    def told(found: LoadedRecording) -> dict[str, Any]:
        device = choose_device(found.recording, arguments.device)
        by = arguments.by or (
            "pattern" if arguments.pattern else default_grouping(found.recording, device)
        )
        answer = found.breakdown(by, arguments.at, device.key, arguments.pattern, arguments.filter)
        return {
            "bytes": answer["total_bytes"],
            "device": device.name,
            "capacity": device.capacity,
            "event": answer["event"],
            "time": answer["time"],
            "by": by,
            "group": next(iter(answer["groups"]), None),
        }

    return _run(arguments, told)


def _peak(found: LoadedRecording) -> dict[str, Any]:
    devices = summary(found.recording, version="", run="", name="")["devices"]
    if not devices:
        raise SourceError(
            str(found.meta.get("source")), "has no device", "record where memory is allocated"
        )
    fullest = max(devices, key=lambda device: device["allocated_peak"])
    return {
        "bytes": fullest["allocated_peak"],
        "device": fullest["name"],
        "capacity": fullest["capacity"],
        "event": fullest["peak_event"],
        "time": fullest["peak_time"],
    }


def _run(arguments: argparse.Namespace, told: Told) -> int:
    """Print all sessions in the folder; status 1 if a host could not be read."""
    whole = _sessions(Path(arguments.path))
    paths = [(found, place) for members in whole.values() for found, place in members]
    hosts = dict(zip((found.id for found, _ in paths), _read(paths, told, arguments), strict=True))
    answers = [
        _answer(session, [hosts[found.id] for found, _ in members])
        for session, members in whole.items()
    ]
    if arguments.json:
        text.say_json({"sessions": answers})
    else:
        for answer in answers:
            _say(answer)
    return 1 if any(host["error"] for host in hosts.values()) else 0


def _sessions(folder: Path) -> dict[Session, list[tuple[Found, Place]]]:
    """The sessions in a folder, or of which it is the folder, with their hosts in order."""
    (root,) = roots_of(str(folder))
    # The folder of a capture is known by those it lies in.
    parts = Path(root.address).parts
    known = ("plugins", "profile")
    above = next((parts[-n:] for n in (3, 2, 1) if parts[-n:][:2] == known[:n]), ())
    found = [replace(one, way=(*above, *one.way)) for one in walk(root, Probes(), lambda: None)]
    # Of modules tb-memory modules tells.
    places = {id: place for id, place in sessions(found).items() if place.session.of != "module"}
    whole: dict[Session, list[tuple[Found, Place]]] = {}
    for one in sorted(
        (one for one in found if one.id in places),
        key=lambda one: (natural(one.run), places[one.id].rank or 0, natural(places[one.id].host)),
    ):
        whole.setdefault(places[one.id].session, []).append((one, places[one.id]))
    if not whole:
        fault = "is a folder, and no session of several hosts or ranks is in it"
        raise SourceError(str(folder), fault, "name the recording's own file in it")
    return whole


def _read(
    hosts: Sequence[tuple[Found, Place]], told: Told, arguments: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """What is told of each host, in order, several read at once."""

    def one(host: tuple[Found, Place]) -> dict[str, Any]:
        found, place = host
        about = {"host": place.host, "rank": place.rank, "path": found.address, "error": None}
        try:
            return {**about, **told(LoadedRecording(load_path(Path(found.address))))}
        except MemoryPluginError as error:
            return {**about, "error": str(error)}

    with (
        Progress(arguments.path, sys.stderr, hidden=arguments.json) as shown,
        ThreadPoolExecutor(default_workers()) as pool,
    ):
        for count, answer in enumerate(pool.map(one, hosts), start=1):
            shown.report(count / len(hosts), f"{count} of {len(hosts)} read")
            yield answer


def _answer(session: Session, hosts: list[dict[str, Any]]) -> dict[str, Any]:
    """A session with what its hosts come to; null where fewer than two could be read."""
    known = sorted((host for host in hosts if "bytes" in host), key=lambda host: host["bytes"])
    median = statistics.median(host["bytes"] for host in known) if known else 0
    several = len(known) > 1
    return {
        "label": session.label,
        "of": session.of,
        "hosts": hosts,
        "highest": known[-1]["host"] if several else None,
        "lowest": known[0]["host"] if several else None,
        "highest_to_median": known[-1]["bytes"] / median if several and median else None,
    }


def _say(answer: dict[str, Any]) -> None:
    hosts = answer["hosts"]
    text.say(f"{text.styled(answer['label'], 'bold')}: {text.counted(len(hosts), answer['of'])}")
    known = [host for host in hosts if "bytes" in host]
    rows = [_row(host, answer) for host in known]
    head = [answer["of"], "allocated", "of", "device", "moment", "largest"]
    head.append(known[0].get("by", "") if known else "")
    columns = [place for place in range(len(head)) if any(row[place] for row in rows)]
    right = [columns.index(place) for place in (1, 2, 5) if place in columns]
    rows = [[row[place] for place in columns] for row in rows]
    for line in text.table([head[place] for place in columns], rows, right) if rows else ():
        text.say(line)
    by_name = {host["host"]: host for host in known}
    if answer["highest"] is not None:
        highest, lowest = by_name[answer["highest"]], by_name[answer["lowest"]]
        ratio = answer["highest_to_median"]
        times = "" if ratio is None else f", {ratio:.2f} × the median"
        text.say(f"  highest: {highest['host']}, {text.exact_bytes(highest['bytes'])}{times}")
        text.say(f"  lowest: {lowest['host']}, {text.exact_bytes(lowest['bytes'])}")
    for host in hosts:
        if host["error"]:
            text.warn(f"tb-memory: {host['error']}")


def _row(host: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    group = host.get("group")
    return [
        host["host"] + (" ▲" if host["host"] == answer["highest"] else ""),
        format_bytes(host["bytes"]),
        "" if host["capacity"] is None else format_bytes(host["capacity"]),
        host["device"],
        text.moment(host["event"]),
        "" if group is None else format_bytes(group["bytes"]),
        "" if group is None else text.cut(group["label"]),
    ]
