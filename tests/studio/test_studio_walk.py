"""A stranger walks along the list of what the studio promises: each attempt is refused, logged, and does no harm."""

import logging
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from studio_client import HOST, studio

from lissom.studio.limits import StudioLimits
from lissom.studio.server import ServerOptions, listening_socket
from lissom.studio.worker import VERB

ROBOT = "lissom: 1\nname: one\nlinks: []\n"
SECRET = "value of a secret"


@pytest.fixture
def house(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "arm.yaml").write_text(ROBOT)
    (inside / "loose.yaml").symlink_to(tmp_path / "secret.yaml")
    (tmp_path / "secret.yaml").write_text(f"key: {SECRET}\n")
    made = studio(inside, StudioLimits(body=20_000, upload=30_000, jobs=0))
    yield made
    made.backend.close()


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.WARNING, "lissom.studio")
    return caplog


class Attempt(NamedTuple):
    """What a stranger or a broken page sends."""

    promise: str
    method: str
    path: str
    status: int
    body: dict | None = None
    query: str = ""
    headers: dict | None = None
    raw: bytes | None = None


OUTSIDE = ("..%2Fsecret.yaml", "loose.yaml", "%2Fetc%2Fpasswd.yaml", ".hidden.yaml")
NAMING = {"robot": "/etc/passwd"}
SWEEP = {"source": "library:ur5"}
ATTEMPTS = (
    Attempt("cookie", "GET", "/api/files", 401, headers={"cookie": None}),
    Attempt("cookie", "GET", "/", 401, query="token=guess", headers={"cookie": None}),
    Attempt("host", "GET", "/api/files", 421, headers={"host": "evil.example:8765"}),
    Attempt("host", "GET", "/", 421, headers={"host": "127.0.0.1.evil.example:8765"}),
    Attempt(
        "origin", "GET", "/api/files", 403, headers={"origin": "https://evil.example"}
    ),
    Attempt(
        "origin",
        "POST",
        "/api/verbs/simulate",
        403,
        {"source": "x"},
        headers={"origin": None},
    ),
    Attempt(
        "origin", "GET", "/api/files", 403, headers={"sec-fetch-site": "cross-site"}
    ),
    *(
        Attempt("folder", "GET", path, 403, query=f"name={name}")
        for name in OUTSIDE
        for path in ("/api/text", "/api/download", "/api/results/facts")
    ),
    *(
        Attempt("folder", "POST", path, 403, body)
        for path, body in (
            ("/api/results/curves", {"runs": ["../secret.yaml"], "what": ["q"]}),
            ("/api/verbs/compare", {"source": ["../a.nc", "../b.nc"]}),
            ("/api/verbs/compare/file", {"source": ["../a.nc"], "ending": ".png"}),
            ("/api/verbs/plot/file", {"source": "../secret.yaml", "ending": ".csv"}),
            ("/api/verbs/modes", {"source": "../secret.yaml"}),
            ("/api/verbs/control compare", {"source": "../secret.yaml"}),
            ("/api/verbs/sweep", {"source": "../secret.yaml"}),
            ("/api/verbs/simulate", {"source": "../secret.yaml"}),
            ("/api/verbs/mode-map", {"source": "../secret.yaml"}),
        )
    ),
    *(
        Attempt("changes", "POST", path, 403, {"source": "arm.yaml", "changes": NAMING})
        for path in (
            "/api/verbs/simulate",
            "/api/verbs/mode-map",
            "/api/verbs/sweep",
            "/api/pose",
            "/api/verbs/matrices",
            "/api/verbs/modes",
            "/api/verbs/linearize",
        )
    ),
    *(
        Attempt("changes", "POST", f"/api/verbs/{verb}", 403, SWEEP | {"values": values})
        for verb, values in (
            ("sweep", {"over": {"robot": ["/x"]}}),
            ("sweep", {"over": {"payload.mass, robot": ["/x"]}}),
            ("sweep", {"over": {"links.a.fe.file": {"values": ["/x"]}}}),
            ("sweep", {"changes": {"links.a.fe": {"file": "/x"}}}),
            ("mode-map", {"over": [{"name": "links.a.fe.file", "start": 0, "stop": 1}]}),
        )
    ),
    Attempt(
        "saves", "PUT", "/api/text", 409, {"name": "arm.yaml", "text": ROBOT}
    ),
    Attempt(
        "saves",
        "PUT",
        "/api/text",
        409,
        {"name": "arm.yaml", "text": ROBOT, "fingerprint": "of another state"},
    ),
    Attempt(
        "size", "PUT", "/api/text", 413, {"name": "a.yaml", "text": "x" * 30_000}
    ),
    Attempt(
        "size", "PUT", "/api/upload", 413, query="name=a.npz", raw=b"x" * 40_000
    ),
    Attempt("size", "POST", "/api/results/gif", 413, raw=b"x" * 40_000),
    Attempt(
        "size", "PUT", "/api/text", 411, headers={"transfer-encoding": "chunked"}
    ),
    Attempt("kinds", "PUT", "/api/upload", 400, query="name=a.exe", raw=b"MZ"),
    Attempt("kinds", "PUT", "/api/text", 400, {"name": "a.py", "text": "import os"}),
    Attempt("number", "POST", "/api/verbs/simulate", 429, {"source": "arm.yaml"}),
    Attempt("number", "POST", "/api/verbs/sweep", 429, {"source": "arm.yaml"}),
)  # fmt: skip


def described(attempt):
    headers = " ".join(str(part) for part in (attempt.headers or {}))
    return f"{attempt.promise}: {attempt.path} {attempt.query} {headers}".strip()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=described)
def test_every_attempt_is_refused_and_logged(house, log, attempt):
    before = sorted(house.backend.folder.root.parent.rglob("*"))
    answer = house.client.request(
        attempt.method,
        attempt.path,
        attempt.body,
        attempt.headers,
        attempt.query,
        attempt.raw,
    )
    assert answer.status == attempt.status, answer.body
    assert SECRET.encode() not in answer.body and b"root:" not in answer.body
    assert "refused" in log.text and "Traceback" not in log.text
    assert sorted(house.backend.folder.root.parent.rglob("*")) == before
    assert (house.backend.folder.root / "arm.yaml").read_text() == ROBOT


def test_sockets_of_other_sites_and_long_messages_are_refused_and_logged(house, log):
    foreign = {"origin": "https://evil.example"}
    received = house.client.socket([], headers=foreign)
    assert [message["type"] for message in received] == ["websocket.close"]
    assert len(log.records) == 1
    house.client.socket(["x" * 200_000])
    assert len(log.records) == 2 and "refused a message" in log.text


@pytest.mark.slow
def test_a_study_names_no_files_outside(house):
    root = house.backend.folder.root
    (root / "study.yaml").write_text(
        "scenario: ../secret.yaml\nanalysis: static\nover: {payload.mass: [0]}\nmetrics: [sag]\n"
    )
    (root / "a.control.yaml").write_text(
        "lissom: 1\nscenario: ../secret.yaml\nmotion: {t: [0, 1], value: [[0], [1]]}\n"
        "controllers: {a: {type: pd, gains: {bandwidth: 10}}}\n"
    )
    for verb, study, files in (
        ("sweep", "study.yaml", {"store": str(root / "s.sweep")}),
        ("control compare", "a.control.yaml", {}),
    ):
        data = {"name": verb, "source": str(root / study), "files": files}
        with pytest.raises(Exception) as failure:
            house.backend.call(
                house.backend.analyses, VERB, **data, changes={}, values={}
            )
        assert "outside" in str(failure.value)
        assert SECRET not in str(failure.value)


class Marker:
    """Writes a file when it is read back: what a pickle can do."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_files_bring_no_code(house, tmp_path):
    marker = tmp_path / "code has run"
    array = np.array([Marker(str(marker))], dtype=object)
    np.savez(house.backend.folder.root / "fe.npz", mass=array)
    assert pickle.dumps(array)
    link = "joint: {type: revolute, origin: {}, axis: [0, 0, 1]}, fe: {file: fe.npz}"
    texts = (
        f"lissom: 1\nname: one\nlinks:\n  - {{name: a, {link}}}\n",
        f"lissom: 1\nname: !!python/object/apply:os.mkdir ['{marker}']\nlinks: []\n",
    )
    for text in texts:
        body = {"name": "code.yaml", "text": text}
        found = house.client.request("PUT", "/api/draft", body).json
        assert not found["valid"] and found["errors"]
    assert not marker.exists()


def test_it_listens_to_this_machine_alone():
    taken, _ = listening_socket(ServerOptions(".").host, 0)
    assert taken.getsockname()[0] == "127.0.0.1"
    taken.close()


def test_the_walk_is_no_closed_door(house):
    """The same questions of a page of the studio are answered."""
    answer = house.client.get("/api/files", headers={"host": HOST})
    assert answer.status == 200 and b"arm.yaml" in answer.body
