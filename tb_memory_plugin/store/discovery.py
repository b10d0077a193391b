"""A folder of runs, made into the sources in it: a bounded walk that can be taken bit by bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tb_memory_plugin.errors import SourceError
from tb_memory_plugin.readers.hlo_names import superseded
from tb_memory_plugin.store.keys import Stat
from tb_memory_plugin.store.probing import Probes, format_by_name
from tb_memory_plugin.store.roots import Root, run_of
from tb_memory_plugin.store.storage import Item, Storage, StorageError, storage_of

#: Sources listed of one folder; of more, the newest. A job of 1024 ranks may have two of each.
MOST_OF_FOLDER = 2048
DEEPEST = 24
#: Entries looked at in one round, over all folders.
MOST_ENTRIES = 2_000_000
#: Runs of a remote logdir that are looked into.
MOST_REMOTE_RUNS = 500
#: Captures of a remote run that are listed, the newest.
MOST_REMOTE_CAPTURES = 20
_CAPTURES = ("plugins", "profile")
_XPLANE, _UNPACKED = ".xplane.pb", ".hlo_proto.pb"
_PAUSE_AFTER = 500

_UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".swp", ".lock", "~")
_UNINTERESTING = ("__pycache__", "node_modules")
#: Names that many tools give: only the content tells whether such a file counts.
_TOLD_BY_CONTENT = (
    *(".json", ".json.gz", ".html", ".sqlite", ".pb", ".pb.gz"),
    *(".prof", ".pprof", ".prof.gz", ".pprof.gz"),
)
_NOWHERE = Stat(0, 0)


@dataclass(frozen=True)
class Found:
    """A source where it was found. ``fault`` is a sentence, if it is known not to be readable."""

    id: str
    run: str
    name: str
    address: str
    format: str
    stat: Stat
    fault: str | None = None
    live: bool = False
    is_file: bool = True
    uploaded: bool = False
    root: str = ""  # name of the root it is under
    way: tuple[str, ...] = ()  # folders from there, and its own name
    rank: int | None = None  # what probing told: of how many, and when it began (ns since 1970)
    world: int | None = None
    begin_ns: int | None = None


def walk(root: Root, probes: Probes, pace: Callable[[], None]) -> Iterator[Found]:
    """The sources under ``root``, in order. ``pace`` is called often: it may take a rest.

    What cannot be listed is a source with a fault. Folders are followed through links, but not in
    circles; a remote folder is listed one level per run, and its newest captures. Raises nothing of
    the file system's.
    """
    try:
        storage = storage_of(root.address)
    except StorageError as error:
        yield _faulty(root, (), "logdir", str(error))
        return
    if storage.remote:
        yield from _remote(root, storage, pace)
    else:
        yield from _local(root, storage, probes, pace)


def source_id(root: Root, folders: tuple[str, ...], name: str) -> str:
    """A short word for a file by its way from the root: the same wherever the logdir is."""
    way = "\0".join([root.name, *folders, name])
    return hashlib.blake2b(way.encode(errors="surrogateescape"), digest_size=8).hexdigest()


def _local(
    root: Root, storage: Storage, probes: Probes, pace: Callable[[], None]
) -> Iterator[Found]:
    budget = [MOST_ENTRIES]
    waiting: list[tuple[str, tuple[str, ...], tuple[tuple[int, int] | None, ...]]]
    waiting = [(root.address, (), ())]
    while waiting:
        folder, folders, above = waiting.pop()
        try:
            identity = storage.identity(folder)
            if identity in above:
                continue
            items = list(_listed(storage, folder, pace, budget))
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                continue  # gone since it was listed; or the logdir is not there yet
            yield _faulty(root, folders, "", _unlisted(root, folders, error))
            continue
        if len(folders) < DEEPEST:
            below = sorted((item for item in items if item.is_folder), key=_name, reverse=True)
            for item in below:
                if not item.name.startswith(".") and item.name not in _UNINTERESTING:
                    waiting.append((item.address, (*folders, item.name), (*above, identity)))
        yield from _files(root, folders, storage, items, probes, pace)
        if budget[0] <= 0:
            sentence = (
                f"{root.label}: more than {MOST_ENTRIES} files lie in it, so not all were looked "
                "at; start TensorBoard with a --logdir nearer to the runs."
            )
            yield _faulty(root, (), "", sentence)
            return


def _remote(root: Root, storage: Storage, pace: Callable[[], None]) -> Iterator[Found]:
    own = ("plugins", "memory")
    try:
        items = list(storage.items(root.address))
    except FileNotFoundError:
        return
    except (OSError, StorageError) as error:
        yield _faulty(root, (), "", _unlisted(root, (), error))
        return
    yield from _files(root, (), storage, items, None, pace)
    runs: list[tuple[str, tuple[str, ...]]] = [(root.address, ())]
    below = sorted((item for item in items if item.is_folder), key=_name)
    runs += [(item.address, (item.name,)) for item in below if not item.name.startswith(".")]
    for folder, folders in runs[:MOST_REMOTE_RUNS]:
        places = [(storage.join(folder, *own), (*folders, *own))]
        if folders and folders[0] != "plugins":
            places.insert(0, (folder, folders))
        captures = (storage.join(folder, *_CAPTURES), (*folders, *_CAPTURES))
        for place, way in [*places, captures]:
            pace()
            try:
                listed = list(storage.items(place))
            except FileNotFoundError:
                continue
            except (OSError, StorageError) as error:
                yield _faulty(root, way, "", _unlisted(root, way, error))
                continue
            yield from _files(root, way, storage, listed, None, pace)
            if way[-2:] == _CAPTURES:
                yield from _captured(root, storage, listed, way, pace)


def _captured(
    root: Root,
    storage: Storage,
    items: list[Item],
    way: tuple[str, ...],
    pace: Callable[[], None],
) -> Iterator[Found]:
    """The newest captures of a remote run: XProf calls their folders by the time."""
    folders = sorted((item for item in items if item.is_folder), key=_name, reverse=True)
    for capture in folders[:MOST_REMOTE_CAPTURES]:
        pace()
        try:
            listed = list(storage.items(capture.address))
        except FileNotFoundError:
            continue
        except (OSError, StorageError) as error:
            yield _faulty(root, (*way, capture.name), "", _unlisted(root, way, error))
            continue
        yield from _files(root, (*way, capture.name), storage, listed, None, pace)


def _listed(
    storage: Storage, folder: str, pace: Callable[[], None], budget: list[int]
) -> Iterator[Item]:
    """Folders, and files that may be sources by their names."""
    for count, item in enumerate(storage.items(folder), start=1):
        budget[0] -= 1
        if budget[0] <= 0:
            return
        if item.is_folder or _promising(item.name):
            yield item
        if count % _PAUSE_AFTER == 0:
            pace()


def _files(
    root: Root,
    folders: tuple[str, ...],
    storage: Storage,
    items: list[Item],
    probes: Probes | None,
    pace: Callable[[], None],
) -> Iterator[Found]:
    files = [item for item in items if not item.is_folder and _promising(item.name)]
    if folders[-3:-1] == _CAPTURES and any(_XPLANE in item.name for item in files):
        # XProf unpacks modules of an XPlane beside it.
        files = [item for item in files if _UNPACKED not in item.name]
    if probes is not None:  # JSON is everywhere
        files = [item for item in files if _counts(storage, item, probes, pace)]

    by_name = {item.name: item for item in files}

    def planned(name: str) -> bool | None:
        item = by_name[name]
        probed = None if probes is None else probes.of(item.address, _stat(storage, item))
        return None if probed is None else probed.planned

    others = superseded(by_name, planned)
    files = [item for item in files if item.name not in others]
    if len(files) > MOST_OF_FOLDER:
        run, _ = run_of(root, folders)
        yield _faulty(
            root,
            folders,
            "…",
            f"{run}: {len(files)} files of this folder may be recordings; the newest "
            f"{MOST_OF_FOLDER} are listed, move the others apart to see them.",
        )
        # Listed newest first, but in order of their names.
        files = sorted(files, key=lambda item: -_stat(storage, item).modified_ns)[:MOST_OF_FOLDER]
    for item in sorted(files, key=_name):
        pace()
        found = _source(root, folders, storage, item)
        if probes is not None:
            probed = probes.of(found.address, found.stat)
            if probed is None:
                continue  # by its content it is no recording
            found = replace(
                found,
                fault=probed.fault,
                live=probed.live,
                format=probed.format or found.format,
                rank=probed.rank,
                world=probed.world,
                begin_ns=probed.begin_ns,
            )
        elif not found.format:
            continue  # only its content would tell, and that is far away
        yield found


def _counts(storage: Storage, item: Item, probes: Probes, pace: Callable[[], None]) -> bool:
    if format_by_name(item.name) is not None:
        return True
    pace()
    return probes.of(item.address, _stat(storage, item)) is not None


def _source(root: Root, folders: tuple[str, ...], storage: Storage, item: Item) -> Found:
    run, left = run_of(root, folders)
    inner = left[2:] if left[:2] == ("plugins", "memory") else left
    name = "/".join([*inner, item.name])
    return Found(
        source_id(root, folders, item.name),
        _spoken(run),
        _spoken(name),
        item.address,
        format_by_name(item.name) or "",
        item.stat or _stat(storage, item),
        root=root.name,
        way=tuple(map(_spoken, (*folders, item.name))),
    )


def _faulty(root: Root, folders: tuple[str, ...], name: str, fault: str) -> Found:
    run, left = run_of(root, folders)
    shown = name or "/".join(left) or (folders[-1] if folders else root.label)
    return Found(
        source_id(root, folders, f"\0{name}"),
        _spoken(run),
        _spoken(shown),
        root.address,
        "",
        _NOWHERE,
        fault,
        is_file=False,
    )


def _unlisted(root: Root, folders: tuple[str, ...], error: OSError | StorageError) -> str:
    folder = "/".join(folders) or root.label
    if isinstance(error, StorageError):
        return str(error)
    if isinstance(error, PermissionError):
        cure = "give permission to read the folder, or leave it out of the logdir"
        return str(SourceError(folder, "may not be listed by this user", cure))
    fault = f"cannot be listed ({error.strerror or error})"
    return str(SourceError(folder, fault, "check the folder and its disk"))


def _promising(name: str) -> bool:
    if name.startswith((".", "~")) or name.lower().endswith(_UNFINISHED):
        return False
    return format_by_name(name) is not None or name.lower().endswith(_TOLD_BY_CONTENT)


def _stat(storage: Storage, item: Item) -> Stat:
    try:
        return item.stat or storage.stat(item.address)
    except OSError:
        return _NOWHERE  # a dangling link, or gone; probing says which


def _spoken(name: str) -> str:
    """``name`` as text: bytes that are none are spelled out, or no link could hold them."""
    return name.encode(errors="backslashreplace").decode()


def _name(item: Item) -> str:
    return item.name
