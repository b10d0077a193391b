"""What the server keeps of the memory that answers took."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

#: Large columns, made and freed in several threads after one that teaches the C library to keep.
_ANSWERS = """
import sys, threading
import numpy as np
from tb_memory_plugin.routes.trimming import LARGE, give_back_at_once

def own():
    lines = open("/proc/self/status").read().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))

def answer(together):
    columns = [np.ones(LARGE, np.int8) for _ in range(20)]
    together.wait()

if sys.argv[1] == "given back":
    give_back_at_once()
np.ones(14 * LARGE, np.int8)
before = own()
together = threading.Barrier(4)
threads = [threading.Thread(target=answer, args=(together,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(own() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is glibc's")
def test_large_columns_are_given_back_from_every_thread() -> None:
    def kept(how: str) -> int:
        command = [sys.executable, "-c", _ANSWERS, how]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert kept("given back") < 4 << 20
    assert kept("kept") > 16 << 20, "the C library gives back by itself: that tests nothing"
