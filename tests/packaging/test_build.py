"""An sdist holds the page; a wheel is made from it with no Node and no network, and is complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))
import page

pytestmark = pytest.mark.once

PIP_WHEEL = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]

#: A PATH without Node, and pip told that there is no index: the build must not want either.
BARE = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("npm_", "PIP_"))},
    "PATH": "/usr/sbin:/sbin",
    "PIP_NO_INDEX": "1",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist of the tracked files and the built page, made where nothing else is changed."""
    pytest.importorskip("setuptools", reason="building needs setuptools in this environment")
    if not page.is_built():
        pytest.fail("the page is not built, or of other sources than these: run `make frontend`")
    tree = tmp_path_factory.mktemp("tree") / "project"
    names = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in names:
        if (REPOSITORY / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, tree / name)
    shutil.copytree(page.STATIC, tree / "tb_memory_plugin" / "static")
    target = tmp_path_factory.mktemp("sdist")
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(target)],
        cwd=tree,
        env=BARE,
        check=True,
    )
    (made,) = target.glob("*.tar.gz")
    return made


def test_sdist_holds_page_and_sources(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert "tb_memory_plugin/static/index.js" in names
    assert "tb_memory_plugin/static/THIRD_PARTY_LICENSES.txt" in names
    assert "frontend/src/index.ts" in names
    assert "scripts/build_backend.py" in names
    assert "tb_memory_plugin/readers/_entries.c" in names
    assert "tb_memory_plugin/readers/_xlines.c" in names
    assert "LICENSE" in names
    assert not any("node_modules" in name for name in names)


def test_wheel_from_sdist_without_node_or_network(sdist: Path, tmp_path: Path) -> None:
    subprocess.run(
        [*PIP_WHEEL, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(sdist)],
        env=BARE,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry_points = archive.read(
            next(name for name in names if name.endswith("entry_points.txt"))
        ).decode()
    for module in ("/_entries.", "/_xlines."):  # no compiler
        assert not any(module in name and name[-4:] != ".pyi" for name in names)
    assert "tb_memory_plugin/static/index.js" in names
    assert "tb_memory_plugin/static/index.css" in names
    assert "tb_memory_plugin/static/drawing.js" in names
    assert "tb_memory_plugin/static/THIRD_PARTY_LICENSES.txt" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert not any(name.startswith(("tests", "frontend", "scripts", "demo")) for name in names)
    assert "memory = tb_memory_plugin.loader:MemoryLoader" in entry_points
    assert "tb-memory = tb_memory_plugin.cli:main" in entry_points


def test_the_compiled_module_is_built_where_there_is_a_compiler(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="building needs setuptools in this environment")
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if (
        not shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0])
        or not headers.exists()
    ):
        pytest.skip("there is no C compiler, or no Python.h")
    folders = ["--build-lib", str(tmp_path / "lib"), "--build-temp", str(tmp_path / "temp")]
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", *folders], cwd=REPOSITORY, check=True
    )
    assert len(list((tmp_path / "lib").rglob("_xlines*"))) == 1
    (built,) = (tmp_path / "lib").rglob("_entries*")
    code = (
        "import importlib.util as u, sys; s = u.spec_from_file_location('_entries', sys.argv[1]);"
        "m = u.module_from_spec(s); s.loader.exec_module(m);"
        "print(m.values([{'size': 7}, {}], 'size'))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(built)], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[7, None]"
