from typing import Any

import pytest

pytest_plugins = ["patchbay.testing.fixtures"]


@pytest.fixture(scope="session")
def gateway_settings() -> dict[str, Any]:
    return {"store": True, "settings": {"resume_seconds": 3}}
