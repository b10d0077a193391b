"""The buffers of a plan as CSV, in the words of plans."""

from __future__ import annotations

from typing import Any

import numpy as np

from tb_memory_plugin.analysis.exact import IntArray
from tb_memory_plugin.analysis.frames import named_by, said
from tb_memory_plugin.recording import arrays
from tb_memory_plugin.recording.recording import Recording
from tb_memory_plugin.views.words import allocation_rows

#: What columns are called, and of which key of a row they are.
COLUMNS = {
    "id": "id",
    "name": "label",
    "opcode": "annotation",
    "framework_op": "op",
    "kind": "region",
    "category": "category",
    "computation": "module",
    "dtype": "dtype",
    "shape": "shape",
    "size": "size",
    "unpadded": "requested",
    "padding": "padding",
    "expansion": "expansion",
    "birth": "birth",
    "death": "death",
    "offset": "address",
    "source": "source",
}


def rows(recording: Recording, chosen: IntArray) -> list[dict[str, Any]]:
    """Rows of the whole table ``allocations`` of plans, by the values of ``COLUMNS``.

    ``padding`` in bytes, ``expansion`` how many times as large it makes a buffer (None for one of
    nothing but padding), ``source`` the whole path of a file and a line.
    """
    found = allocation_rows(recording, chosen)
    for row, source in zip(found, _sources(recording, chosen), strict=True):
        size, bare = row["size"], row["requested"]
        row["padding"] = size - bare
        row["expansion"] = round(size / bare, 3) if bare else None
        row["source"] = source
    return found


def _sources(recording: Recording, chosen: IntArray) -> list[str | None]:
    own = np.append(named_by(recording), -1)
    frames = own[recording.values("allocations", "birth_stack")[chosen]]
    known = arrays.distinct(frames[frames >= 0])
    told = said(recording, known)
    words = {
        frame: f"{file}:{line}" if line else file
        for frame, file, line in zip(known.tolist(), told.file, told.line, strict=True)
    }
    return [words.get(frame) for frame in frames.tolist()]
