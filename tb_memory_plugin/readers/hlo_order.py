"""The order in which the instructions of a module run: its schedule, calls unfolded where made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def program_order(
    sequences: Mapping[int, Sequence[int]], calls: Mapping[int, Sequence[int]], entry: int
) -> dict[int, int]:
    """The place of every scheduled instruction, by its id.

    ``sequences`` are the ids of the instructions of every computation in order, ``calls`` the
    computations that an instruction calls. An instruction comes after those of what it calls, which
    are placed where they are called first.
    """
    order: dict[int, int] = {}
    entered = {entry}
    # A stack of its own: what a file nests may be deeper than Python calls itself.
    waiting = [iter(sequences.get(entry, ()))]
    calling: list[int | None] = [None]
    while waiting:
        for instruction in waiting[-1]:
            called = [
                computation
                for computation in dict.fromkeys(calls.get(instruction, ()))
                if computation in sequences and computation not in entered
            ]
            if called:
                entered.update(called)
                waiting.append(iter([part for each in called for part in sequences[each]]))
                calling.append(instruction)
                break
            order.setdefault(instruction, len(order))
        else:
            waiting.pop()
            caller = calling.pop()
            if caller is not None:
                order.setdefault(caller, len(order))
    return order
