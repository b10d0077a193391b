"""What all tests share: the folder of real files, and a cache folder that is nobody else's."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Properties are about what is computed: how long it takes depends on the machine's other work.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# For the oldest packages, where the same properties are tried again (see the Makefile).
settings.register_profile("fewer", settings.get_profile("any machine"), max_examples=20)
settings.load_profile("any machine")

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings beside the repository; the test is skipped without it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real recordings (../shared/data) are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for this test alone, also for the processes it starts."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("TB_MEMORY_CACHE", str(folder))
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs PyTorch where there is none, and say so."""
    if importlib.util.find_spec("torch") is not None:
        return
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed here"))
