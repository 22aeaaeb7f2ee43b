"""Who may come in and how far: each attempt of a stranger is refused, logged, and answered without a traceback."""

import base64
import io
import json
import logging
import random

import pytest
from PIL import Image
from studio_client import HOST, ORIGIN, studio

from lissom.studio.limits import StudioLimits

ROBOT = "lissom: 1\nname: one\nlinks: []\n"


@pytest.fixture
def house(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "arm.yaml").write_text(ROBOT)
    (tmp_path / "secret.yaml").write_text("key: value of a secret\n")
    made = studio(inside)
    yield made
    made.backend.close()


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.WARNING, "lissom.studio")
    return caplog


STRANGERS = {
    "no cookie": {"headers": {"cookie": None}},
    "another cookie": {"headers": {"cookie": "lissom_studio_8765=guess"}},
    "the cookie of another port": {"headers": {"cookie": "lissom_studio_8766=x"}},
    "another name of this machine": {"headers": {"host": "evil.example:8765"}},
    "another port": {"headers": {"host": "127.0.0.1:80"}},
    "no name": {"headers": {"host": None}},
    "a page of another site": {"headers": {"origin": "https://evil.example"}},
    "a page without a site": {"headers": {"origin": "null"}},
    "a picture in another site": {"headers": {"sec-fetch-site": "cross-site"}},
    "a neighbouring site": {"headers": {"sec-fetch-site": "same-site"}},
}


@pytest.mark.parametrize("attempt", STRANGERS.values(), ids=STRANGERS)
def test_strangers_read_nothing(house, log, attempt):
    answer = house.client.get("/api/files", **attempt)
    assert answer.status in (401, 403, 421)
    assert b"arm.yaml" not in answer.body
    assert "refused" in log.text and "Traceback" not in log.text


@pytest.mark.parametrize("attempt", STRANGERS.values(), ids=STRANGERS)
def test_strangers_change_nothing(house, log, attempt):
    body = {"name": "new.yaml", "text": ROBOT}
    answer = house.client.request("PUT", "/api/text", body, **attempt)
    assert answer.status in (401, 403, 421)
    assert not (house.backend.folder.root / "new.yaml").exists()
    assert "refused" in log.text


def test_changes_need_an_origin_and_reading_does_not(house):
    body = {"name": "new.yaml", "text": ROBOT}
    without = {"origin": None}
    refused = house.client.request("PUT", "/api/text", body, headers=without)
    assert refused.status == 403
    assert house.client.get("/api/files").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": None},
        {"origin": None},
        {"origin": "https://evil.example"},
        {"host": "evil.example:8765"},
    ],
)
def test_web_sockets_of_strangers_are_refused_before_they_open(house, log, headers):
    received = house.client.socket([], headers=headers)
    assert [message["type"] for message in received] == ["websocket.close"]
    assert "refused" in log.text


def test_the_token_buys_one_cookie_and_stays_out_of_the_address(house):
    token = house.keys.token
    first = house.client.get("/", query=f"token={token}", cookie=False)
    assert first.status == 303
    assert token not in first.headers["location"]
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    second = house.client.get("/", query=f"token={token}", cookie=False)
    assert second.status == 401
    assert "set-cookie" not in second.headers
    # The next browser has an address of its own.
    assert house.keys.token != token and house.keys.spend(house.keys.token)


def test_pages_run_no_scripts_but_their_own(house):
    policy = house.client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    other = house.client.get("/").headers["content-security-policy"]
    assert other != policy  # the word for styles is made for each answer
    assert b"<script>" not in house.client.get("/").body


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_there_are_no_generated_pages(house, path):
    assert house.client.get(path).status == 404


PATHS = (
    "../secret.yaml",
    "x/../../secret.yaml",
    "/etc/passwd.yaml",
    "link.yaml",
    "linked/secret.yaml",
    "~root/x.yaml",
    ".hidden.yaml",
    "..\\secret.yaml",
    "arm.yaml\0.yaml",
    "a" * 500 + ".yaml",
    "",
    ".",
    "./",
)


@pytest.mark.parametrize("name", PATHS)
def test_no_path_leads_out_of_the_folder(house, name):
    root = house.backend.folder.root
    (root / "link.yaml").symlink_to(root.parent / "secret.yaml")
    (root / "linked").symlink_to(root.parent)
    (root / ".hidden.yaml").write_text("key: value of a secret\n")
    before = sorted(root.parent.rglob("*"))
    from urllib.parse import urlencode

    query = urlencode({"name": name})
    for path in ("/api/text", "/api/download", "/api/animation"):
        answer = house.client.get(path, query=query)
        assert 400 <= answer.status < 500
        assert b"value of a secret" not in answer.body
    for method, path, body in (
        ("PUT", "/api/text", {"name": name, "text": ROBOT}),
        ("PUT", "/api/draft", {"name": name, "text": ROBOT}),
        ("POST", "/api/verbs/simulate", {"source": name}),
        ("POST", "/api/verbs/sweep", {"source": name}),
        ("POST", "/api/verbs/control compare", {"source": name}),
        ("POST", "/api/pose", {"source": name}),
    ):
        answer = house.client.request(method, path, body)
        assert 400 <= answer.status < 500
        assert b"value of a secret" not in answer.body
    assert sorted(root.parent.rglob("*")) == before
    assert (root.parent / "secret.yaml").read_text() == "key: value of a secret\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"robot": "/etc/passwd"},
        {"robot": {"links": [{"fe": {"file": "/etc/passwd"}}]}},
        {"links.one.fe.file": "/etc/passwd"},
        {"links.one.fe": {"file": "../secret.npz"}},
    ],
)
def test_changes_name_no_files(house, changes):
    for path in ("/api/verbs/simulate", "/api/pose", "/api/verbs/matrices/file"):
        body = {"source": "arm.yaml", "changes": changes}
        answer = house.client.request("POST", path, body)
        assert answer.status == 403
        assert "names no file" in answer.json["error"]["message"]


def test_a_robot_of_the_folder_names_no_files_outside(house):
    """The description itself says so, as on the command line."""
    root = house.backend.folder.root
    (root / "s.scenario.yaml").write_text("robot: ../secret.yaml\nt_end: 1\n")
    body = {"name": "s.scenario.yaml", "text": "robot: ../secret.yaml\nt_end: 1\n"}
    found = house.client.request("PUT", "/api/draft", body).json
    assert not found["valid"]
    assert "outside" in found["errors"][0]["message"]
    assert "value of a secret" not in json.dumps(found)


def test_large_and_endless_requests_are_refused(tmp_path):
    made = studio(tmp_path, StudioLimits(body=1000, upload=2000))
    body = {"name": "a.yaml", "text": "x" * 2000}
    assert made.client.request("PUT", "/api/text", body).status == 413
    upload = made.client.request(
        "PUT", "/api/upload", raw=b"x" * 3000, query="name=a.npz"
    )
    assert upload.status == 413
    endless = made.client.request(
        "PUT", "/api/text", raw=b"", headers={"transfer-encoding": "chunked"}
    )
    assert endless.status == 411
    assert not list(tmp_path.iterdir())
    made.backend.close()


def test_slow_and_overlong_uploads_are_refused(tmp_path):
    made = studio(tmp_path, StudioLimits(upload=2000, receive_s=0.05))

    def upload(raw, headers, more=False):
        return made.client.request(
            "PUT", "/api/upload", None, headers, "name=a.npz", raw, more=more
        )

    slow = upload(b"x" * 100, {"content-length": "200"}, more=True)
    assert (slow.status, slow.json["error"]["kind"]) == (408, "bad input")
    # More than it announced.
    assert upload(b"x" * 3000, {"content-length": "100"}).status == 413
    assert not list(tmp_path.iterdir())
    made.backend.close()


def png(color, size=(8, 6)):
    text = io.BytesIO()
    Image.new("RGBA", size, color).save(text, "PNG")
    return base64.b64encode(text.getvalue()).decode()


def test_pictures_of_a_motion_become_a_gif(house):
    pictures = [png("red"), png("blue")]
    answer = house.client.request(
        "POST", "/api/results/gif", pictures, query="interval=50"
    )
    assert answer.status == 200
    gif = Image.open(io.BytesIO(answer.body))
    assert gif.format == "GIF" and gif.n_frames == 2
    assert (gif.info["duration"], gif.info["loop"]) == (50, 0)


@pytest.mark.parametrize(
    ("pictures", "query"),
    (
        (["TVo="], "interval=50"),
        (["no base64!"], "interval=50"),
        ([png("red")[:40]], "interval=50"),
        ([png("red", (3000, 1))], "interval=50"),
        ([base64.b64encode(b"GIF89a").decode()], "interval=50"),
        ([], "interval=50"),
        ([png("red")] * 181, "interval=50"),
        ([png("red")], "interval=0"),
        ([png("red")], ""),
        ({"pictures": [png("red")], "path": "/tmp/outside.gif"}, "interval=50"),
    ),
)
def test_what_is_no_motion_becomes_no_gif(house, pictures, query):
    answer = house.client.request("POST", "/api/results/gif", pictures, query=query)
    assert answer.status == 400
    assert answer.json["error"]["kind"] == "bad input"


def test_lines_are_spelled_without_reading_what_they_name(house):
    values = {"run": "/nowhere.nc", "picture": "run.png"}
    answer = house.client.request("POST", "/api/verbs/plot/lines", {"values": values})
    assert answer.json["command"] == "lissom plot /nowhere.nc -o run.png"
    body = {"source": "library:double-pendulum"}
    answer = house.client.request("POST", "/api/verbs/simulate/lines", body)
    # The name alone would be the scenario of that name.
    assert answer.json["command"].endswith("robots/double-pendulum.yaml")
    unknown = house.client.request("POST", "/api/verbs/secret/lines", {})
    assert unknown.status == 404


def test_a_password_opens_the_door_and_wrong_ones_close_it_for_a_while(tmp_path):
    made = studio(tmp_path, password="correct horse battery")
    outside = {"cookie": None}
    page = made.client.get("/login", headers=outside)
    assert page.status == 200 and b"password" in page.body
    assert made.client.get("/api/files", headers=outside).status == 401
    for _ in range(5):
        wrong = made.client.request("POST", "/login", raw=b"guess", headers=outside)
        assert wrong.status == 401 and "set-cookie" not in wrong.headers
    right = b"correct horse battery"
    late = made.client.request("POST", "/login", raw=right, headers=outside)
    assert late.status == 401
    made.keys._closed_until = 0.0
    answer = made.client.request("POST", "/login", raw=right, headers=outside)
    assert answer.status == 204 and "HttpOnly" in answer.headers["set-cookie"]
    made.backend.close()


# --- malformed requests ----------------------------------------------------------------------------------------------

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "NONE")
ROUTES = (
    "/",
    "/api/text",
    "/api/draft",
    "/api/upload",
    "/api/download",
    "/api/pose",
    "/api/verbs/matrices/file",
    "/api/jobs",
    "/api/jobs/1",
    "/api/jobs/-1",
    "/api/jobs/99999999999999999999",
    "/api/jobs/1/answer",
    "/api/animation",
    "/api/results/facts",
    "/api/results/curves",
    "/api/verbs/compare",
    "/api/verbs/compare/file",
    "/api/verbs/plot/file",
    "/api/results/gif",
    "/api/verbs/modes",
    "/api/verbs/simulate",
    "/api/verbs/mode-map",
    "/api/verbs/sweep",
    "/api/verbs/control compare",
    "/api/joint",
    "/api/import",
    "/api/verbs/linearize/file",
    "/api/live",
    "/assets/../../secret.yaml",
    "/assets/%2e%2e/x",
    "/\udcff",
    "/api/files/../../..",
)
VALUES = (
    None,
    True,
    -1,
    1e308,
    "",
    "../secret.yaml",
    "arm.yaml",
    "\0",
    "\ud800",
    "x" * 5000,
    [],
    [[[[]]]],
    {},
    {"a": {"b": {"c": None}}},
    "library:anthropomorphic",
    "scenario:../x",
    float("nan"),
)
FIELDS = ("name", "text", "fingerprint", "source", "q", "qd", "sag", "ending", "draft")
FIELDS += (
    "values",
    "changes",
    "link",
    "by",
    "runs",
    "what",
    "file",
    "over",
    "study",
    "metrics",
    "count",
    "kp",
)


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


def malformed(seed):
    """A request that no page of the studio sends."""
    draw = random.Random(seed)
    body = {field: draw.choice(VALUES) for field in draw.sample(FIELDS, 3)}
    raw = json.dumps(body).encode()
    kind = draw.randrange(5)
    if kind == 0:
        raw = raw[: draw.randrange(len(raw))]
    if kind == 1:
        raw = draw.randbytes(draw.randrange(200))
    if kind == 2:
        raw = b"[" * draw.randrange(3000)
    headers = {"content-type": draw.choice(("application/json", "text/plain", "\xff"))}
    if draw.random() < 0.1:
        headers["content-length"] = draw.choice(("-1", "x", "1e9", "99999999999"))
    query = draw.choice(
        ("", "name=arm.yaml", "name=%00", "name=..%2f", "=", "&&&", "token=x")
    )
    return draw.choice(METHODS), draw.choice(ROUTES), raw, headers, query


@pytest.mark.parametrize("seeds", [range(100), slow(range(100, 1000))], ids=len)
def test_malformed_requests_do_no_harm(house, log, seeds):
    # Nothing here is worth computing.
    house.backend.poses.call = house.backend.analyses.call = lambda *_, **__: {}
    for seed in seeds:
        method, path, raw, headers, query = malformed(seed)
        answer = house.client.request(
            method, path, raw=raw, headers=headers, query=query
        )
        assert answer.status < 500, (seed, method, path, answer.body[:300])
        assert b"Traceback" not in answer.body
        assert b"value of a secret" not in answer.body
    assert "Traceback" not in log.text
    assert house.client.get("/api/files").status == 200
    for job in house.backend.queue.jobs():
        house.backend.queue.cancel(job["number"])


def test_malformed_messages_are_answered_in_words(house):
    messages = [
        "",
        "{",
        "[]",
        "null",
        '{"id": 1}',
        '{"source": 4}',
        '{"id": 1, "pose": {"source": "arm.yaml"}}',
    ]
    messages += [
        '{"source": "arm.yaml", "unknown": 1}',
        "[" * 50_000,
        "x" * 200_000,
    ]
    received = house.client.socket(messages)
    answers = [json.loads(message["text"]) for message in received if "text" in message]
    errors = [message["error"]["message"] for message in answers if "error" in message]
    assert len(errors) == len(messages)
    assert not any("Traceback" in error for error in errors)


@pytest.mark.slow
def test_a_thousand_malformed_messages_are_answered_one_by_one(house, log):
    house.backend.poses.call = lambda *_, **__: {}
    draw = random.Random(7)
    messages = []
    for _ in range(1000):
        body = {"id": draw.choice(VALUES), draw.choice(("pose", "q", "")): {}}
        body |= {field: draw.choice(VALUES) for field in draw.sample(FIELDS, 3)}
        text = json.dumps(body)
        cut = draw.randrange(len(text))
        messages.append(draw.choice((text, text[:cut], "[" * cut, text + "}")))
    for start in range(0, 1000, 50):
        some = [text for text in messages[start : start + 50] if not _is_question(text)]
        received = house.client.socket(some)
        answers = [
            json.loads(message["text"]) for message in received if "text" in message
        ]
        errors = [message["error"] for message in answers if "error" in message]
        assert len(errors) == len(some)
        assert all("Traceback" not in error["message"] for error in errors)
    assert "Traceback" not in log.text
    assert house.client.get("/api/files").status == 200


def _is_question(text):
    from lissom.studio.questions import PoseQuestion

    try:
        PoseQuestion.model_validate_json(text)
    except Exception:
        return False
    return True


def test_the_same_request_of_an_own_page_is_answered(house):
    """The other side of all refusals above: they do not refuse everything."""
    answer = house.client.get(
        "/api/text", query="name=arm.yaml", headers={"sec-fetch-site": "same-origin"}
    )
    assert answer.json["text"] == ROBOT
    body = {"name": "new.yaml", "text": ROBOT}
    saved = house.client.request(
        "PUT", "/api/text", body, headers={"origin": ORIGIN, "host": HOST}
    )
    assert saved.status == 200
    assert (house.backend.folder.root / "new.yaml").read_text() == ROBOT
