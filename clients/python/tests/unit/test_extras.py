"""The package works without its extras, and says which one is missing."""

import subprocess
import sys


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_the_package_does_not_import_pipecat() -> None:
    assert run("import sys, patchbay, patchbay.heard; print('pipecat' in sys.modules)") == "False\n"


def test_the_transport_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pipecat'] = None\ntry:\n import patchbay.pipecat\nexcept ImportError as e: print(e)"
    )
    assert "pip install 'patchbay[pipecat]'" in run(program)
