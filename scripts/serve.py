"""Serves a logdir with TensorBoard on a free port and says where to look."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from pathlib import Path

_TRIES = 50


def free_port(first: int) -> int:
    """``first`` if nothing listens there, else the next port that is free. Raises SystemExit."""
    for port in range(first, first + _TRIES):
        with socket.socket() as probe:
            # As the server will: what a server that has just ended leaves behind is no hindrance.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit(f"No free port from {first} on; choose another with PORT=…")


def main() -> None:
    """Become TensorBoard, after a line with the address of the Memory tab."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--port", type=int, default=6006)
    options = parser.parse_args()
    port = free_port(options.port)
    print(f"\n  Open http://localhost:{port}/#memory   (Ctrl-C ends it)\n", flush=True)
    command = [sys.executable, "-m", "tensorboard.main"]
    command += ["--logdir", str(options.logdir), "--host", "localhost", "--port", str(port)]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
