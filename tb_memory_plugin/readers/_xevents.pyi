def rows(
    events: list[bytes],
    stats: bytes,
    wanted: bytes,
    telling: int,
    every: bool,
    width: int,
    texts: dict[bytes, int],
    /,
) -> bytes | None: ...
