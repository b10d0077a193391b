import numpy as np
import numpy.typing as npt

def outline(
    data: bytes, begin: int, end: int, kinds: bytes, /
) -> tuple[int, int, int, bytes, bytes] | None: ...
def fill(
    data: bytes,
    begin: int,
    end: int,
    kinds: bytes,
    listed: bool,
    stats: bytes,
    texts: dict[bytes, int],
    table: npt.NDArray[np.int64],
    row: int,
    others: int = ...,
    known: dict[bytes, int] = ...,
    room: npt.NDArray[np.int64] = ...,
    /,
) -> int | None: ...
