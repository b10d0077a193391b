"""The slow truth of the lines on what is selected, and on its siblings, in a picture."""

from __future__ import annotations

from collections.abc import Container

from tests.browser.reference import Stretch

OUTLINE = "#212121"
#: Pixels of the line inside the edge of the selected one, and from one slanting line to the next.
LINE, HATCH = 2, 8


def mark(
    pixels: list[list[str]], parts: list[list[Stretch]], selected: int, siblings: Container[int]
) -> int:
    """Draws the lines over a picture that ``parts`` stand in; lives are named by their birth.

    Answers how many pixels of siblings are covered.
    """
    hatched = 0
    whole: set[tuple[int, int]] = set()
    for x, column in enumerate(parts):
        for part in column:
            places = range(part.begin, part.end)
            if part.life is not None and part.life.birth == selected:
                whole.update((x, y) for y in places)
            elif part.life is not None and part.life.birth in siblings:
                for y in (y for y in places if (x + y) % HATCH == 0):
                    pixels[x][y] = OUTLINE
                    hatched += 1
    for x, y in whole:
        steps = [step for off in range(1, LINE + 1) for step in (-off, off)]
        near = [(x, y + step) for step in steps] + [(x + step, y) for step in steps]
        inside = [(x, y) for x, y in near if 0 <= x < len(pixels) and 0 <= y < len(pixels[0])]
        if not whole.issuperset(inside):
            pixels[x][y] = OUTLINE
    return hatched
