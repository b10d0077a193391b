"""The calls of CUDA that memory was allocated in: their names, threads and call stacks."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tb_memory_plugin.readers.nsys_database import Database, matched, strings
from tb_memory_plugin.readers.nsys_events import EVENTS, TID_BITS, Driver
from tb_memory_plugin.readers.nsys_work import CALLS, VERSION
from tb_memory_plugin.recording.arrays import IntArray

_CHAINS = "CUDA_CALLCHAINS"
#: Only calls that a memory event names.
_NAMED = f'WHERE correlationId IN (SELECT correlationId FROM "{EVENTS}")'
_MOST_FRAMES = 1_000

#: Function and module of a frame.
Frame = tuple[str, str]


class Calls:
    """The call of every event of ``driver``, as far as the export has it.

    Attributes:
        row: of every event a place in the other columns, -1 where its call is not known.
        thread: the global thread id, -1 where not known.
        name, names: what was called, as codes (-1 where not known) of words.
        chain: the call stack's id, -1 for none.
        chains: frames by such ids, innermost first.
    """

    def __init__(self, database: Database, driver: Driver) -> None:
        none = np.zeros(0, dtype=np.int64)
        self.row = np.full(len(driver.correlation), -1, dtype=np.int64)
        self.thread, self.name, self.chain = none, none, none
        self.names: list[str] = []
        self.chains: dict[int, list[Frame]] = {}
        lacks = not database.has(EVENTS, "correlationId") or not driver.correlation.size
        if lacks or not database.has(CALLS, "correlationId", "globalTid"):
            return
        columns = ("correlationId", "globalTid", "nameId", "callchainId")
        rows = database.columns(CALLS, (), columns, where=_NAMED)
        self.thread, self.chain = rows["globalTid"], rows["callchainId"]
        process = self.thread >> TID_BITS
        self.row = matched((driver.process, driver.correlation), (process, rows["correlationId"]))
        used = np.unique(self.row[self.row >= 0])
        self._name(database, rows["nameId"], used)
        self._link(database, used)

    def _name(self, database: Database, ids: IntArray, used: IntArray) -> None:
        texts = strings(database, ids[used].tolist())
        words: dict[str, int] = {}
        codes = {
            number: words.setdefault(VERSION.sub("", value), len(words))
            for number, value in texts.items()
        }
        self.name = np.array([codes.get(each, -1) for each in ids.tolist()], dtype=np.int64)
        self.names = list(words)

    def _link(self, database: Database, used: IntArray) -> None:
        wanted = {each for each in self.chain[used].tolist() if each >= 0}
        if not wanted or not database.has(_CHAINS, "id", "symbol", "stackDepth"):
            return
        where = f'WHERE id IN (SELECT callchainId FROM "{CALLS}" {_NAMED})'
        rows = database.columns(_CHAINS, ("id",), ("symbol", "module", "stackDepth"), where=where)
        texts = strings(database, {*rows["symbol"].tolist(), *rows["module"].tolist()})
        order = np.lexsort((rows["stackDepth"], rows["id"]))
        chains: dict[int, list[Frame]] = defaultdict(list)
        columns = (rows[name][order].tolist() for name in ("id", "symbol", "module"))
        for number, symbol, module in zip(*columns, strict=True):
            if number in wanted and len(chains[number]) < _MOST_FRAMES:
                chains[number].append((texts.get(symbol, "?"), texts.get(module, "")))
        self.chains = dict(chains)
