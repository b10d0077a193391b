"""How often a property is tried: as often as its test says, and less in the oldest environment."""

from __future__ import annotations

from hypothesis import settings

#: Examples of hypothesis's own profile, of which a profile here has all or a part.
_WHOLE = 100
_LEAST = 5


def examples(most: int) -> settings:
    """``most`` examples, or the part of them that the profile chosen for this run asks for."""
    part = settings.default.max_examples / _WHOLE
    return settings(max_examples=max(round(most * part), _LEAST))
