"""`patchbay.livekit` says how to install what it needs; nothing else needs it."""

import importlib
import subprocess
import sys

import pytest


def test_without_livekit_agents_its_module_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit", None)
    monkeypatch.delitem(sys.modules, "livekit.agents", raising=False)
    monkeypatch.delitem(sys.modules, "patchbay.livekit", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'patchbay\[livekit\]'"):
        importlib.import_module("patchbay.livekit")


def test_the_library_does_not_import_livekit() -> None:
    program = "import sys, patchbay.api, patchbay.agents, patchbay.testing; sys.exit('livekit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
