"""How the studio starts: on this machine alone, or with a password and encryption."""

import socket

import pytest

from lissom.commands import cli
from lissom.studio.server import (
    ServerError,
    ServerOptions,
    check,
    host_names,
    listening_socket,
)

PASSWORD = "correct horse battery"


@pytest.fixture
def pem(tmp_path):
    file = tmp_path / "x.pem"
    file.write_text("-")
    return str(file)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.53"])
def test_this_machine_needs_neither_password_nor_certificate(host):
    check(ServerOptions(".", host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "::", "example.org"])
def test_other_machines_need_both_and_are_told_why(host, pem):
    for given in (
        {},
        {"password": PASSWORD},
        {"certificate": pem, "key": pem},
        {"password": "short", "certificate": pem, "key": pem},
    ):
        with pytest.raises(ServerError, match="other machines could then reach"):
            check(ServerOptions(".", host=host, **given))
    check(ServerOptions(".", host=host, password=PASSWORD, certificate=pem, key=pem))


def test_a_certificate_without_its_key_is_refused(pem):
    with pytest.raises(ServerError, match="belong together"):
        check(ServerOptions(".", certificate=pem))
    with pytest.raises(ServerError, match="no such file"):
        check(ServerOptions(".", certificate="none.pem", key=pem))


def test_a_port_in_use_is_left_for_the_next_free_one():
    first, port = listening_socket("127.0.0.1", 0)
    first.listen()
    second, other = listening_socket("127.0.0.1", port)
    assert port < other < port + 50
    first.close()
    second.close()


def test_ports_end():
    with pytest.raises(ServerError, match="no port"):
        listening_socket("127.0.0.1", 65536)


def test_a_local_server_answers_to_local_names_alone():
    names = host_names("127.0.0.1", 8765)
    assert names == {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}
    assert "192.168.1.4:8765" in host_names("192.168.1.4", 8765)
    assert socket.gethostname().lower() + ":8765" not in names


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["no-such-folder"], "is no folder"),
        ([".", "--host", "0.0.0.0"], "needs a password"),
        ([".", "--port", "70000"], "no port"),
    ],
)
def test_the_command_refuses_in_one_line_with_exit_code_2(line, words, capsys):
    code = cli.main(["studio", *line, "--no-browser"])
    printed = capsys.readouterr().err
    assert code == 2
    assert words in printed and printed.count("error:") == 1
    assert "Traceback" not in printed
