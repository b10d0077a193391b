"""Runs every benchmark, one after the other, and puts what they print into docs/performance.md.

    python -m benchmarks [NAME …]

What one that fails said before stays in the document, and the others still run.
Each benchmark is a module of this folder with a ``main``; the document has a pair of markers for
each, ``<!-- begin NAME -->`` and ``<!-- end NAME -->``, between which its output stands.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "performance.md"


def names() -> list[str]:
    """The benchmarks, by module name."""
    return sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )


def insert(document: str, name: str, output: str) -> str:
    """``document`` with ``output`` between the markers of ``name``. Raises ValueError without."""
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"{DOCUMENT.name} has no place for {name}")
    block = f"```\n{output.strip()}\n```\n"
    return pattern.sub(lambda match: match[1] + block + match[2], document)


def machine() -> str:
    """What was measured on: processors, Python and system, without the machine's name."""
    return f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()}"


def main(chosen: list[str]) -> None:
    """Run the ``chosen`` benchmarks, or all. Raises SystemExit where one failed."""
    failed = []
    for name in chosen or names():
        print(f"{name} …", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode:
            failed.append(name)
            continue
        print(result.stdout, flush=True)
        DOCUMENT.write_text(insert(DOCUMENT.read_text(), name, result.stdout))
    DOCUMENT.write_text(insert(DOCUMENT.read_text(), "machine", machine()))
    if failed:
        raise SystemExit(f"Not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
