"""A certificate for loopback addresses, made once for all tests of this user."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import PatchbayError

_DAYS = 365
_RENEW_SECONDS = 30 * 86_400


class CertificateError(PatchbayError):
    """No certificate could be made."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files of an authority, and of a server's certificate and key."""

    authority: Path
    server: Path
    key: Path


def development_certificates(folder: Path | None = None) -> Certificates:
    """Certificates for `localhost`, 127.0.0.1 and ::1; makes them with `openssl` if they are missing or expire soon.

    Raises:
        CertificateError: `openssl` is missing or failed.
    """
    if folder is None:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = Path(cache) / "patchbay" / "testing"
    folder.mkdir(parents=True, exist_ok=True)
    found = Certificates(folder / "ca.cert.pem", folder / "server.cert.pem", folder / "server.key.pem")
    if not _is_good(found):
        _make(found)
    return found


def _is_good(found: Certificates) -> bool:
    if not all(file.exists() for file in (found.authority, found.server, found.key)):
        return False
    check = ["openssl", "x509", "-in", str(found.server), "-noout", "-checkend", str(_RENEW_SECONDS)]
    return _run(check, check=False) == 0


def _make(found: Certificates) -> None:
    extensions = (
        "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n"
    )
    # Made elsewhere and moved, so that concurrent tests find complete files.
    with tempfile.TemporaryDirectory(dir=found.key.parent) as name:
        work = Path(name)
        (work / "extensions").write_text(extensions)
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(_DAYS)]
        authority = ["openssl", "req", "-x509", *curve, "-subj", "/CN=Patchbay tests", "-keyout", str(work / "ca.key")]
        _run([*authority, "-addext", "keyUsage=critical,keyCertSign", "-out", str(work / "ca.cert.pem")])
        request = ["openssl", "req", *curve[:-2], "-subj", "/CN=localhost", "-keyout", str(work / "server.key.pem")]
        _run([*request, "-out", str(work / "server.csr")])
        sign = ["openssl", "x509", "-req", "-in", str(work / "server.csr"), "-CA", str(work / "ca.cert.pem")]
        sign += ["-CAkey", str(work / "ca.key"), "-CAcreateserial", "-days", str(_DAYS)]
        _run([*sign, "-extfile", str(work / "extensions"), "-out", str(work / "server.cert.pem")])
        for file in (found.key, found.server, found.authority):
            os.replace(work / file.name, file)


def _run(command: list[str], *, check: bool = True) -> int:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CertificateError(f"openssl cannot be run: {error}; install it") from error
    if check and result.returncode != 0:
        raise CertificateError(f"openssl failed: {result.stderr.strip()}")
    return result.returncode
