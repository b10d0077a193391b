"""The door: light, with flags of its own, and never the end of TensorBoard."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from tb_memory_plugin.loader import MemoryLoader
from tests.conftest import REPOSITORY
from tests.plugin.logdirs import STEPS
from tests.plugin.server import TensorBoardServer


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    MemoryLoader().define_flags(parser)
    return parser.parse_args(list(arguments))


def test_flags_have_defaults_and_units() -> None:
    assert vars(parse()) == {
        "memory_cache_dir": "",
        "memory_cache_size": None,
        "memory_limit": None,
        "memory_time_limit": None,
        "memory_show_source": False,
    }
    given = parse("--memory_limit", "1.5GiB", "--memory_time_limit", "2.5")
    assert (given.memory_limit, given.memory_time_limit) == (3 << 29, 2.5)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--memory_limit", "lots"),
        ("--memory_limit", "0"),
        ("--memory_time_limit", "-1"),
        ("--memory_time_limit", "nan"),
        ("--memory_cache_size", ""),
    ],
)
def test_flags_that_make_no_sense_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        parse(*arguments)


def test_importing_the_loader_imports_nothing_of_ours_and_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from tensorboard.plugins import base_plugin\n"
        "before = set(sys.modules)\n"
        "import tb_memory_plugin.loader\n"
        "import argparse\n"
        "tb_memory_plugin.loader.MemoryLoader().define_flags(argparse.ArgumentParser())\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout == "['tb_memory_plugin']\n"


@pytest.mark.parametrize("module", ["pyarrow", "tb_memory_plugin.views.usage"])
def test_a_broken_dependency_leaves_tensorboard_up(
    module: str, tmp_path: Path, logdir: Path
) -> None:
    # Runs in every Python that has this folder on its path, before anything else.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Broken:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise ImportError('libbroken.so: cannot open shared object file')\n"
        "sys.meta_path.insert(0, Broken())\n"
    )
    with TensorBoardServer(logdir, environment={"PYTHONPATH": str(tmp_path / "site")}) as server:
        assert len(server.board("data/plugin/scalars/scalars?tag=loss&run=one")) == STEPS
        assert "memory" not in server.board("data/plugins_listing")
        assert (
            "The Memory tab is missing: tb_memory_plugin could not be loaded (ImportError: "
            "libbroken.so: cannot open shared object file)"
        ) in server.log
