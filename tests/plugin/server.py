"""A real TensorBoard in a process of its own, made into something tests can ask."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

_START = 300.0  # of a machine with much other work; that it ended is noticed at once
_POLL = 0.05


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class TensorBoardServer:
    """``with TensorBoardServer(logdir) as server: server.get("sources").json()``.

    TensorBoard runs on ``port``, else on a free one, of the loopback interface and is ended by its
    own process id. ``url`` is where a browser finds it, ``log`` what it has said. ``arguments`` go
    to TensorBoard behind its logdir (None to give none), ``environment`` adds to this process's.
    """

    program: ClassVar[tuple[str, ...]] = (sys.executable, "-m", "tensorboard.main")

    def __init__(
        self,
        logdir: Path | str | None,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        path_prefix: str = "",
        port: int | None = None,
    ) -> None:
        self._arguments = [*(() if logdir is None else ("--logdir", str(logdir))), *arguments]
        if path_prefix:
            self._arguments += ["--path_prefix", path_prefix]
        self._environment = dict(environment or {})
        self._prefix = path_prefix.rstrip("/")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the last reference
        self.port = port or _free_port()
        self.url = f"http://127.0.0.1:{self.port}{self._prefix}/"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> TensorBoardServer:
        command = [*self.program, *self._arguments]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--reload_interval", "1"]
        self._process = subprocess.Popen(
            command,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self._environment},
        )
        try:
            self._wait()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """TensorBoard's process."""
        if self._process is None:
            raise ValueError("the server was not started")
        return self._process.pid

    @property
    def log(self) -> str:
        """Everything TensorBoard has printed."""
        self._log.seek(0)
        text = self._log.read().decode(errors="replace")
        self._log.seek(0, os.SEEK_END)
        return text

    def end(self) -> None:
        """End TensorBoard, if it still runs."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask for a path below TensorBoard's own, e.g. ``data/plugins_listing``."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            whole = f"{self._prefix}/{path.lstrip('/')}"
            connection.request(method, whole, body=body, headers=dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def board(self, path: str) -> Any:
        """JSON of TensorBoard's own, or of another plugin's, route."""
        answer = self.request("GET", path)
        if answer.status != 200:
            raise ValueError(f"{path} answered {answer.status}: {answer.body[:200]!r}")
        return answer.json()

    def get(self, route: str, **parameters: Any) -> Answer:
        """Ask the memory plugin; parameters that are None are left out."""
        return self.request("GET", self.path(route, **parameters))

    @staticmethod
    def path(route: str, **parameters: Any) -> str:
        """The path of a route of the memory plugin, for :meth:`request`."""
        given = {name: value for name, value in parameters.items() if value is not None}
        query = f"?{urlencode(given)}" if given else ""
        return f"data/plugin/memory/{route}{query}"

    def post(self, name: str, body: bytes, headers: Mapping[str, str] | None = None) -> Answer:
        """Drop a file on the plugin, as the page does unless other ``headers`` are given."""
        given = {"X-Memory-Upload": "1"} if headers is None else headers
        path = f"data/plugin/memory/upload?name={quote(name, safe='')}"
        return self.request("POST", path, body, given)

    def sources(self, *, after: int = 0, timeout: float = 30) -> dict[str, dict[str, Any]]:
        """The sources by ``run/name``, once the logdirs were looked through and ``after`` are."""
        end = time.monotonic() + timeout
        while True:
            answer = self.get("sources").json()
            found = {f"{source['run']}/{source['name']}": source for source in answer["sources"]}
            if not answer["scanning"] and len(found) >= after:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"still {sorted(found)} after {timeout} s\n{self.log}")
            time.sleep(_POLL)

    def opened(self, id: str, timeout: float = 120) -> dict[str, Any]:
        """What ``open`` says of a source once it is neither queued nor being read."""
        end = time.monotonic() + timeout
        while True:
            status: dict[str, Any] = self.get("open", source=id).json()
            if status["state"] not in ("queued", "reading"):
                return status
            if time.monotonic() > end:
                raise TimeoutError(f"still {status} after {timeout} s\n{self.log}")
            time.sleep(_POLL)

    def _wait(self) -> None:
        end = time.monotonic() + _START
        while time.monotonic() < end:
            if self._process is not None and self._process.poll() is not None:
                raise RuntimeError(f"TensorBoard ended at once\n{self.log}")
            with contextlib.suppress(OSError):
                if self.request("GET", "data/environment").status == 200:
                    return
            time.sleep(_POLL)
        raise TimeoutError(f"TensorBoard did not answer\n{self.log}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
