"""Builds the page and the C modules of the package; everything else is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))
import page


class BuildWithPage(build_py):
    """``build_py`` that makes sure the page is there, so that every wheel holds it."""

    def run(self) -> None:
        page.build()
        # The list of package data was made before the page was.
        self.__dict__.pop("data_files", None)
        super().run()


class SdistWithPage(sdist):
    """``sdist`` that holds the built page, so that installing from it needs no Node."""

    def run(self) -> None:
        page.build()
        super().run()


#: Optional: without a C compiler their work is done in Python, in more time.
COMPILED = [
    Extension(
        f"tb_memory_plugin.readers.{name}", [f"tb_memory_plugin/readers/{name}.c"], optional=True
    )
    for name in ("_entries", "_xlines")
]

setup(cmdclass={"build_py": BuildWithPage, "sdist": SdistWithPage}, ext_modules=COMPILED)
