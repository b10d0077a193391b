"""The documents hold every command, option, public name, setting, route and make target."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tb_memory_plugin
from tb_memory_plugin import cli
from tb_memory_plugin.api import LoadedRecording
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.once

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted(DOCS.glob("*.md"))


def read(name: str) -> str:
    """The text of a document."""
    return (REPOSITORY / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under the heading that holds ``heading``, up to the next of its level."""
    found = re.search(rf"^(#+) [^\n]*{re.escape(heading)}.*?(?=^#|\Z)", text, re.S | re.M)
    assert found, f"no section for {heading}"
    return found[0]


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The subcommands of ``tb-memory`` with their parsers."""
    for action in cli.parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


@pytest.mark.parametrize(("name", "parser"), list(commands()), ids=lambda value: str(value)[:12])
def test_every_option_of_every_command_is_documented(
    name: str, parser: argparse.ArgumentParser
) -> None:
    text = section(read("docs/cli.md"), f"`tb-memory {name} ")
    for action in parser._actions:
        for option in action.option_strings:
            if option.startswith("--") and option != "--help":
                assert option in text, f"{option} of tb-memory {name}"
        for choice in action.choices or ():
            assert f"`{choice}`" in text, f"{choice} of tb-memory {name}"


def test_every_public_name_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in tb_memory_plugin.__all__:
        assert name.strip("_") in text


def test_every_method_and_parameter_of_the_writer_is_documented() -> None:
    text = read("docs/recording.md")
    writer = tb_memory_plugin.MemoryWriter
    for parameter in list(inspect.signature(writer).parameters):
        assert f"`{parameter}" in text, parameter
    for name, member in inspect.getmembers(writer):
        if not name.startswith("_"):
            assert re.search(rf"\b{name}\b", text), name
            for parameter in (
                list(inspect.signature(member).parameters)[1:] if callable(member) else []
            ):
                assert re.search(rf"\b{parameter}\b", text), f"{name}({parameter})"


def test_everything_a_loaded_recording_offers_is_documented() -> None:
    text = section(read("docs/cli.md"), "From Python")
    offered = [name for name in vars(LoadedRecording) if not name.startswith("_")]
    assert {"breakdown", "table", "to_pandas"} < set(offered)
    for name in offered:
        assert f"recording.{name}" in text, name


def test_every_flag_of_the_server_is_documented() -> None:
    from tb_memory_plugin.loader import MemoryLoader

    parser = argparse.ArgumentParser(add_help=False)
    MemoryLoader().define_flags(parser)
    text = read("docs/cli.md")
    options = [option for action in parser._actions for option in action.option_strings]
    assert options
    for option in options:
        assert f"`{option}" in text, option


def test_every_route_is_documented() -> None:
    from tensorboard.plugins import base_plugin

    from tb_memory_plugin.plugin import MemoryPlugin

    plugin = MemoryPlugin(base_plugin.TBContext(logdir=""))
    text = read("docs/architecture.md")
    for route in plugin.get_plugin_apps():
        assert re.search(rf"`(GET|POST) {re.escape(route.lstrip('/'))}", text), route


def test_every_make_target_for_people_is_in_the_readme_or_the_contributing_page() -> None:
    text = read("README.md") + read("CONTRIBUTING.md")
    targets = re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.M)
    assert {"demo", "test", "lint", "bench", "frontend", "clean", "help"} == set(targets)
    for target in targets:
        assert f"make {target}" in text, target


def test_every_benchmark_has_its_place() -> None:
    from benchmarks.__main__ import insert, names

    document = read("docs/performance.md")
    for name in [*names(), "machine"]:
        assert "figures" in insert(document, name, "figures")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
