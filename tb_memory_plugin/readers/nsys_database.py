"""A SQLite file that somebody else wrote, opened so that it can only be read, made into columns.

Nothing in such a file is trusted: only ordinary tables and their stored columns are looked at (no
views, virtual tables or computed columns), no function is called, nothing is written, not even a
journal, and values of the wrong type are refused.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tb_memory_plugin.readers.checked import Malformed, shown, text
from tb_memory_plugin.recording.arrays import IntArray

MAGIC = b"SQLite format 3\0"

#: Rows that are taken from a table at once.
BATCH = 16_384
#: Bytes of the longest text or blob.
_LONGEST = 1 << 20
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
#: Files of changes that are not in the database yet.
_UNFINISHED = ("-wal", "-journal")


@dataclass(frozen=True)
class Rows:
    """Columns of a table by their names: integers, and texts as codes (-1 for none) of words."""

    integers: dict[str, IntArray]
    codes: dict[str, IntArray]
    words: dict[str, list[str]]

    def __getitem__(self, name: str) -> IntArray:
        return self.integers[name]


class Database:
    """The ordinary tables of an open database. Its methods raise sqlite3.Error and Malformed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.text_factory = _text
        if hasattr(connection, "setlimit"):  # since Python 3.11
            connection.setlimit(0, _LONGEST)  # SQLITE_LIMIT_LENGTH
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        self._columns: dict[str, frozenset[str]] = {}
        for name, code in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            if type(name) is str and "VIRTUAL" not in str(code)[:64].upper():
                self._columns[name] = self._stored(name)
        connection.set_authorizer(_authorized)

    def _stored(self, table: str) -> frozenset[str]:
        """The columns of a table, without those that are computed."""
        rows = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(str(name) for (name,) in rows)

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is a table with these columns."""
        return table in self._columns and self._columns[table].issuperset(columns)

    def lacks(self, table: str, columns: Sequence[str]) -> list[str]:
        """Those of the ``columns`` that a table has not."""
        known = self._columns.get(table, frozenset())
        return [column for column in columns if column not in known]

    def rows(
        self, table: str, columns: Sequence[str], where: str = ""
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Some thousands of rows at a time, in the order of the file; None for columns it lacks."""
        known = self._columns.get(table, frozenset())
        chosen = ", ".join(f'"{name}"' if name in known else "NULL" for name in columns)
        cursor = self._connection.execute(f'SELECT {chosen} FROM "{table}" NOT INDEXED {where}')
        with closing(cursor):
            while batch := cursor.fetchmany(BATCH):
                yield batch

    def columns(
        self,
        table: str,
        columns: Sequence[str],
        optional: Sequence[str] = (),
        texts: Sequence[str] = (),
        where: str = "",
    ) -> Rows:
        """Columns of integers and of texts. What is null in the ``optional`` ones is -1.

        Raises Malformed for null in the others, and for what is no integer.
        """
        names = [*columns, *optional]
        made = [array("q") for _ in names]
        codes: list[array[int]] = [array("i") for _ in texts]
        words: list[dict[str, int]] = [{} for _ in texts]
        for batch in self.rows(table, [*names, *texts], where):
            for place, values in enumerate(zip(*batch, strict=True)):
                if place < len(names):
                    what = f"{table}.{names[place]}"
                    made[place].extend(_integers(values, what, nullable=place >= len(columns)))
                else:
                    known = words[place - len(names)]
                    codes[place - len(names)].extend(
                        -1 if type(value) is not str else known.setdefault(value, len(known))
                        for value in values
                    )
        return Rows(
            {name: _column(values) for name, values in zip(names, made, strict=True)},
            {name: _column(values) for name, values in zip(texts, codes, strict=True)},
            {name: list(known) for name, known in zip(texts, words, strict=True)},
        )


def enumeration(
    database: Database, table: str, column: str, known: Mapping[int, str]
) -> dict[int, str]:
    """What numbers mean: as the file's ``table`` says, in small letters, else as is ``known``."""
    found = dict(known)
    if database.has(table, "id", column):
        for batch in database.rows(table, ["id", column]):
            found |= {
                number: word.lower()
                for number, word in batch
                if type(number) is int and type(word) is str and word
            }
    return found


def strings(database: Database, wanted: Iterable[int]) -> dict[int, str]:
    """The texts with these ids, as far as there are any."""
    left = set(wanted)
    found: dict[int, str] = {}
    if left and database.has("StringIds", "id", "value"):
        for batch in database.rows("StringIds", ["id", "value"]):
            found |= {
                number: text(value)
                for number, value in batch
                if type(value) is str and number in left
            }
    return found


def _integers(values: tuple[Any, ...], what: str, *, nullable: bool) -> array[int]:
    try:
        return array("q", values)
    except TypeError:
        if nullable and None in values:
            return _integers(
                tuple(-1 if value is None else value for value in values), what, nullable=False
            )
        strange = next(value for value in values if type(value) is not int)
        raise Malformed(f"has {shown(strange)} in {what}, where integers are") from None


def _column(values: array[int]) -> IntArray:
    return np.frombuffer(values, values.typecode) if values else np.zeros(0, values.typecode)


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """The database in ``path``. Raises Malformed for what is none, inside the block as well."""
    for ending in _UNFINISHED:
        beside = path.with_name(path.name + ending)
        if beside.is_file() and beside.stat().st_size:
            raise Malformed(f"is not finished: changes to it are in {beside.name}")
    # Immutable: no locks, no journal, no recovery, whatever the file says of itself.
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            yield Database(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter of names in a damaged schema
        raise Malformed(f"is a damaged SQLite database ({str(error)[:100]})") from None


def _authorized(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def combinations(*columns: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct combinations of ``columns`` in order, one a row, and the one of every place.

    Not ``np.unique`` with an axis, which takes twenty times as long.
    """
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    is_new = np.zeros(len(order), dtype=bool)
    is_new[:1] = True
    for column in ordered:
        is_new[1:] |= column[1:] != column[:-1]
    of = np.empty(len(order), dtype=np.int64)
    of[order] = np.cumsum(is_new) - 1
    return np.stack([column[is_new] for column in ordered], axis=1), of


def matched(asked: tuple[IntArray, IntArray], known: tuple[IntArray, IntArray]) -> IntArray:
    """Of every process and correlation id that is ``asked`` the row that has them, -1 for none.

    Correlation ids are those of a process. Of several rows it is the first; ids below 0 are none.
    """
    count = len(asked[0])
    both, numbers = (np.concatenate(pair) for pair in zip(asked, known, strict=True))
    distinct, keys = combinations(both, numbers)
    row_of = np.full(len(distinct), -1, dtype=np.int64)
    rows = np.flatnonzero(known[1] >= 0)[::-1]  # of several the first
    row_of[keys[count:][rows]] = rows
    found: IntArray = row_of[keys[:count]]
    return found
