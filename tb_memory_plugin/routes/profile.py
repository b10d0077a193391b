"""Routes of the curve and of what memory is made of at a moment."""

from __future__ import annotations

from typing import Any

from tb_memory_plugin.recording.recording import Device, Recording
from tb_memory_plugin.routes import asking
from tb_memory_plugin.routes.answers import ARROW, CSV, Answer
from tb_memory_plugin.routes.parameters import Parameters
from tb_memory_plugin.views import breakdown, csv, lives, modules, operators, span, tracks, usage


def curve(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``usage``."""
    content = usage.window(
        recording,
        device,
        **asking.window(asked),
        **asking.groups(asked, recording, device),
        top=asking.top(asked),
        areas=asked.text("areas", "groups"),
    )
    return Answer(content, ARROW)


def spans(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``tracks``."""
    return Answer(tracks.window(recording, device, **asking.window(asked)))


def one_span(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``span``."""
    return Answer(span.card(recording, device, asked.text("id")))


def groups(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``breakdown``."""
    limit = asked.integer("limit", 0, asking.MOST_ROWS, breakdown.LIMIT)
    question = asking.question(asked, recording, device)
    return Answer(breakdown.page(recording, device, **question, limit=limit))


def allocations(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``allocations``."""
    found = breakdown.allocations(
        recording,
        device,
        **asking.question(asked, recording, device),
        **asking.group(asked),
        limit=asked.integer("limit", 0, asking.MOST_ROWS, breakdown.LIMIT),
        offset=asked.integer("offset", 0, 1 << 62, 0),
    )
    return Answer(found)


def export(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``export.csv``."""
    question = asking.question(asked, recording, device)
    if asked.has("key"):
        pieces = csv.allocations(recording, device, **question, **asking.group(asked))
        return Answer(pieces, CSV, "allocations.csv")
    return Answer(csv.groups(recording, device, **question), CSV, "breakdown.csv")


def all_lives(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``lives``."""
    found = lives.page(
        recording,
        device,
        **asking.listing(asked, "-bytes"),
        **asking.sizes(asked),
        at=_at(asked),
        offset=asked.integer("offset", 0, 1 << 62, 0),
        limit=asked.integer("limit", 0, lives.MOST, lives.LIMIT),
    )
    return Answer(found)


def lives_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``lives.csv``."""
    question = {**asking.listing(asked, "-bytes"), **asking.sizes(asked), "at": _at(asked)}
    return Answer(lives.whole(recording, device, **question), CSV, "lives.csv")


def all_operators(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``operators``."""
    found = operators.page(
        recording,
        device,
        **asking.listing(asked, "-self_increase"),
        find=asked.text("find", ""),
        offset=asked.integer("offset", 0, 1 << 62, 0),
        limit=asked.integer("limit", 0, operators.MOST, operators.LIMIT),
    )
    return Answer(found)


def operators_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``operators.csv``."""
    question = {**asking.listing(asked, "-self_increase"), "find": asked.text("find", "")}
    return Answer(operators.whole(recording, device, **question), CSV, "operators.csv")


def all_modules(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``modules``."""
    found = modules.page(
        recording,
        device,
        **asking.listing(asked, "begin"),
        **_running(asked),
        offset=asked.integer("offset", 0, 1 << 62, 0),
        limit=asked.integer("limit", 0, modules.MOST, modules.LIMIT),
    )
    return Answer(found)


def modules_csv(recording: Recording, device: Device, asked: Parameters) -> Answer:
    """``modules.csv``."""
    question = {**asking.listing(asked, "begin"), **_running(asked)}
    return Answer(modules.whole(recording, device, **question), CSV, "modules.csv")


def _running(asked: Parameters) -> dict[str, Any]:
    return {"at": _at(asked), "find": asked.text("find", "")}


def _at(asked: Parameters) -> str | None:
    """The moment that a list is asked of, None for one of a window."""
    return asking.moment(asked) if asked.has("at") else None


ROUTES = {
    "/usage": curve,
    "/tracks": spans,
    "/span": one_span,
    "/breakdown": groups,
    "/allocations": allocations,
    "/export.csv": export,
    "/lives": all_lives,
    "/lives.csv": lives_csv,
    "/operators": all_operators,
    "/operators.csv": operators_csv,
    "/modules": all_modules,
    "/modules.csv": modules_csv,
}
