"""``pip install .`` from a clean checkout builds the page where the machine has no Node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.packaging.test_build import PIP_WHEEL


@pytest.mark.network
def test_wheel_from_a_checkout_brings_its_own_node(tmp_path: Path) -> None:
    tree = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(tree)], check=True)
    without_node = ":".join(
        folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "node").exists()
    )
    # npm is a script that starts with `env node`: a few system tools must stay within reach.
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("env", "sh"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    subprocess.run(
        [*PIP_WHEEL, "--wheel-dir", str(tmp_path), str(tree)],
        env={**os.environ, "PATH": f"{without_node}:{tools}"},
        check=True,
    )
    assert len(list(tmp_path.glob("tb_memory_plugin-*.whl"))) == 1
    assert (tree / "tb_memory_plugin" / "static" / "index.js").stat().st_size > 10_000
