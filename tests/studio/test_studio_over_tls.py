"""A studio for other machines: the command itself, with a password and encryption."""

import http.client
import os
import re
import ssl
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of this machine that it signed itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    line += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    line += ["-out", str(paths[0]), "-keyout", str(paths[1])]
    subprocess.run(line, check=True, capture_output=True)
    return paths


@pytest.fixture
def server(certificate, tmp_path):
    """Port of a studio that answers all machines, and a context that trusts it."""
    (tmp_path / "arm.yaml").write_text("lissom: 1\nname: arm\nlinks: []\n")
    line = [sys.executable, "-m", "lissom.commands.cli", "studio", str(tmp_path)]
    line += ["--host", "0.0.0.0", "--port", "0", "--no-browser"]
    line += ["--certificate", str(certificate[0]), "--key", str(certificate[1])]
    environment = {**os.environ, "LISSOM_STUDIO_PASSWORD": PASSWORD}
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    address = process.stderr.readline()
    port = int(re.search(r"https://0\.0\.0\.0:(\d+)/", address)[1])
    assert process.stderr.readline().startswith("Ctrl-C")
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    yield port, trusting
    process.terminate()
    process.wait(20)


def asked(server, method, path, headers=None, body=None):
    port, context = server
    connection = http.client.HTTPSConnection(
        "localhost", port, context=context, timeout=60
    )
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_a_password_opens_it_and_nothing_else_does(server):
    port, _ = server
    assert asked(server, "GET", "/api/files")[0] == 401
    own = {"origin": f"https://localhost:{port}"}
    status, headers, _ = asked(server, "POST", "/login", own, "a wrong password")
    assert status == 401 and "set-cookie" not in headers
    foreign = {"origin": "https://evil.example"}
    assert asked(server, "POST", "/login", foreign, PASSWORD)[0] == 403
    status, headers, _ = asked(server, "POST", "/login", own, PASSWORD)
    assert status == 204
    cookie = headers["set-cookie"]
    assert all(word in cookie for word in ("Secure", "HttpOnly", "SameSite=Strict"))
    inside = {"cookie": cookie.partition(";")[0]}
    status, _, body = asked(server, "GET", "/api/files", inside)
    assert status == 200 and b"arm.yaml" in body
    other = {**inside, "host": f"evil.example:{port}"}
    assert asked(server, "GET", "/api/files", other)[0] == 421


def test_nothing_goes_over_the_wire_in_plain_text(server):
    port, _ = server
    plain = http.client.HTTPConnection("localhost", port, timeout=20)
    with pytest.raises((http.client.HTTPException, OSError)):
        plain.request("GET", "/login")
        plain.getresponse()
