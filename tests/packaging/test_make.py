"""What make runs: the list of targets, the server of the demo, the page's fingerprint."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))
import page
import serve

pytestmark = pytest.mark.once

PATIENCE = 120  # seconds


def test_help_lists_what_is_for_people() -> None:
    said = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    listed = re.findall(r"^ +([a-z]+)  +\S", said, re.M)
    assert sorted(listed) == ["bench", "clean", "demo", "frontend", "help", "lint", "test"]


def test_a_port_in_use_is_left_alone() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve.free_port(port) > port


def test_the_demo_is_served_with_its_memory_tab(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(REPOSITORY / "scripts" / "serve.py"), str(tmp_path)]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            said = next(line for line in server.stdout if "#memory" in line)
            address = re.search(r"http://localhost:(\d+)/#memory", said)
            assert address
            url = f"http://127.0.0.1:{address[1]}/data/plugins_listing"
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                plugins = json.load(answer)
        finally:
            server.terminate()
        assert server.wait(PATIENCE) == 0
    assert plugins["memory"]["tab_name"] == "Memory"


def test_the_page_is_stale_when_its_sources_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    for name in ("package.json", "package-lock.json", "vite.config.ts", "tsconfig.json"):
        (tmp_path / name).write_text("{}")
    source = tmp_path / "src" / "index.ts"
    source.write_text("export {};")
    monkeypatch.setattr(page, "FRONTEND", tmp_path)
    monkeypatch.setattr(page, "_STAMP", tmp_path / "stamp")
    assert not page.is_built()
    (tmp_path / "stamp").write_text(page.fingerprint())
    assert page.is_built()
    source.write_text("export const changed = 1;")
    assert not page.is_built()


def test_the_lock_file_names_no_download_host() -> None:
    packages = json.loads((REPOSITORY / "frontend" / "package-lock.json").read_text())["packages"]
    assert len(packages) > 10
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for name, package in packages.items() if name)
