"""Serves a logdir with TensorBoard on a free port, and says where its Memory tab is."""

from __future__ import annotations

import argparse
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_TRIES = 50
_LOOK_AGAIN = 0.3  # seconds


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


def listens(port: int) -> bool:
    """Whether somebody answers on ``port``."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    """Start TensorBoard, say where the Memory tab is once it answers, and stay until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--port", type=int, default=6006)
    options = parser.parse_args()
    port = free_port(options.port)
    command = [sys.executable, "-m", "tensorboard.main"]
    command += ["--logdir", str(options.logdir), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command) as server:
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        try:
            while server.poll() is None and not listens(port):
                time.sleep(_LOOK_AGAIN)
            if server.poll() is None:
                time.sleep(_LOOK_AGAIN)  # what TensorBoard says of itself comes first
                print(f"\n  The Memory tab: http://localhost:{port}/#memory\n", flush=True)
            status = server.wait()
        except KeyboardInterrupt:
            status = server.wait()  # it was told too
    raise SystemExit(0 if status in (0, -signal.SIGINT, -signal.SIGTERM) else status)


if __name__ == "__main__":
    main()
