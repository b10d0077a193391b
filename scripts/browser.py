"""Makes sure there is a Chromium for the browser tests: finds one, or installs Debian's as root."""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """The browser that ``CHROMIUM`` names, or the first one on PATH."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> None:
    """Find or install; raises SystemExit with a sentence when there is no way."""
    if find():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SystemExit(
            "No Chromium: install one (Debian: apt-get install chromium), or say where it is with "
            "`make test CHROMIUM=/path/to/chromium`."
        )
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet)
    packages = ["chromium", "fonts-roboto-unhinted", "fonts-dejavu-core"]
    subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
        check=True,
        env=quiet,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    main()
