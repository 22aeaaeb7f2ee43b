"""Files that the studio reads and writes: nothing is lost, nothing outside is touched."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from lissom.studio.backend import Backend
from lissom.studio.explanation import RequestError
from lissom.studio.folder import Folder
from lissom.studio.limits import StudioLimits
from lissom.studio.worker import Worker

TEXT = "lissom: 1\nname: arm\nlinks: []\n"
MOST = 1_000_000


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_saved_text_reads_back_and_saves_again(folder):
    saved = folder.save("arm.yaml", TEXT, None)
    read = folder.read("arm.yaml", MOST)
    assert (read.text, read.fingerprint) == (TEXT, saved.fingerprint)
    folder.save("arm.yaml", TEXT + "# more\n", read.fingerprint)
    assert folder.read("arm.yaml", MOST).text.endswith("# more\n")


def test_a_save_is_refused_when_the_file_changed_on_disk(folder):
    opened = folder.save("arm.yaml", TEXT, None)
    (folder.root / "arm.yaml").write_text("typed in another editor\n")
    with pytest.raises(RequestError, match="changed on disk") as refusal:
        folder.save("arm.yaml", TEXT, opened.fingerprint)
    assert refusal.value.status == 409
    assert (folder.root / "arm.yaml").read_text() == "typed in another editor\n"


def test_a_new_file_does_not_replace_one_that_is_there(folder):
    folder.save("arm.yaml", TEXT, None)
    with pytest.raises(RequestError, match="changed on disk"):
        folder.save("arm.yaml", "something else", None)


def test_a_file_that_is_gone_is_not_made_again_in_silence(folder):
    opened = folder.save("arm.yaml", TEXT, None)
    (folder.root / "arm.yaml").unlink()
    with pytest.raises(RequestError, match="changed on disk"):
        folder.save("arm.yaml", TEXT, opened.fingerprint)


# Two threads that add one line after the other to a text, as two pages do that are open in a studio.
WRITERS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from lissom.studio.explanation import RequestError
from lissom.studio.folder import Folder

root, process, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])

def write(thread):
    folder = Folder(root)
    for number in range(rounds):
        while True:
            seen = folder.read("arm.yaml", 1_000_000)
            line = f"# {process} {thread} {number}\\n"
            try:
                folder.save("arm.yaml", seen.text + line, seen.fingerprint)
            except RequestError as refusal:
                assert "changed on disk" in str(refusal), refusal
            else:
                break

with ThreadPoolExecutor(2) as threads:
    list(threads.map(write, range(2)))
"""


def test_eight_writers_in_four_processes_lose_no_line_of_each_other(folder):
    folder.save("arm.yaml", TEXT, None)
    rounds = 200
    line = [sys.executable, "-c", WRITERS, str(folder.root)]
    writers = [
        subprocess.Popen([*line, str(k), str(rounds)], stderr=subprocess.PIPE)
        for k in range(4)
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err.decode()
    # A save that did not see the version that it replaced leaves a line out.
    written = folder.read("arm.yaml", MOST).text.removeprefix(TEXT).splitlines()
    expected = {
        f"# {k} {thread} {number}"
        for k in range(4)
        for thread in range(2)
        for number in range(rounds)
    }
    assert len(written) == len(expected) and set(written) == expected


def test_of_eight_saves_of_one_version_one_alone_is_taken(folder):
    saved = folder.save("arm.yaml", TEXT, None)

    def save(text):
        try:
            return Folder(folder.root).save("arm.yaml", text, saved.fingerprint)
        except RequestError:
            return None

    with ThreadPoolExecutor(8) as threads:
        for number in range(200):
            texts = [f"# {number} {k}\n" for k in range(8)]
            (saved,) = filter(None, threads.map(save, texts))
            assert folder.read("arm.yaml", MOST).text == saved.text


def test_files_of_one_name_dropped_at_once_are_all_kept(folder):
    with ThreadPoolExecutor(8) as threads:
        names = list(
            threads.map(lambda k: folder.add("mesh.npz", b"%d" % k), range(64))
        )
    stored = {(folder.root / name).read_bytes() for name in names}
    assert stored == {b"%d" % k for k in range(64)}


def test_a_draft_survives_until_it_is_saved(folder):
    opened = folder.save("arm.yaml", TEXT, None)
    folder.save_draft("arm.yaml", TEXT + "# typed\n")
    assert folder.read("arm.yaml", MOST).draft == TEXT + "# typed\n"
    assert folder.read("arm.yaml", MOST).text == TEXT
    folder.save("arm.yaml", TEXT + "# typed\n", opened.fingerprint)
    assert folder.read("arm.yaml", MOST).draft is None


def test_a_draft_that_says_what_the_file_says_is_dropped(folder):
    folder.save("arm.yaml", TEXT, None)
    typed = folder.save_draft("arm.yaml", TEXT + "# typed\n")
    assert typed.read_text() == TEXT + "# typed\n"
    assert folder.read("arm.yaml", MOST).draft is not None
    file = folder.save_draft("arm.yaml", TEXT)
    assert file.read_text() == TEXT and not typed.exists()
    assert folder.read("arm.yaml", MOST).draft is None


def test_the_list_shows_descriptions_and_results_but_neither_drafts_nor_others(folder):
    folder.save("arm.yaml", TEXT, None)
    folder.save_draft("arm.yaml", TEXT + "# typed\n")
    (folder.root / "notes.txt").write_text("mine")
    (folder.root / "deep").mkdir()
    (folder.root / "deep" / "run.nc").write_bytes(b"x")
    outside = folder.root.parent / "outside.yaml"
    outside.write_text("secret")
    (folder.root / "link.yaml").symlink_to(outside)
    found = {file.name: file.kind for file in folder.listing()}
    assert found == {"arm.yaml": "robot", "deep/run.nc": "result"}


LISTED = {
    "arm.yaml": ("lissom: 1\nname: arm\nlinks: []\n", "robot"),
    "inline.yaml": ("robot:\n  name: arm\n  links: []\n", "scenario"),
    "study-of-run.yaml": ("# links: of none\nt_end: 2\nrobot: x\n", "scenario"),
    "gains.yaml": ("scenario: x\ncontrollers: {}\n", "control study"),
    "loads.yml": ("\ufeffscenario: x\n'over': {}\n", "sweep study"),
    "flow.yaml": ("{scenario: x, over: {}}\n", "description"),
    "empty.yaml": ("", "description"),
    "post.urdf": ("<robot/>", "URDF"),
}


def test_the_list_names_each_file_as_what_it_is(folder):
    for name, (text, _) in LISTED.items():
        (folder.root / name).write_text(text, encoding="utf-8")
    os.mkfifo(folder.root / "pipe.yaml")
    found = {file.name: file.kind for file in folder.listing()}
    expected = {name: kind for name, (_, kind) in LISTED.items()}
    assert found == expected | {"pipe.yaml": "description"}


def test_what_is_dropped_never_replaces_a_file(folder):
    assert folder.add("mesh.npz", b"1") == "mesh.npz"
    assert folder.add("mesh.npz", b"2") == "mesh-2.npz"
    assert (folder.root / "mesh.npz").read_bytes() == b"1"


def test_what_is_dropped_with_its_folder_keeps_it(folder):
    assert folder.add("arm/meshes/link.stl", b"1") == "arm/meshes/link.stl"
    assert folder.add("arm/meshes/link.stl", b"2") == "arm/meshes/link-2.stl"
    assert folder.add("arm/../../meshes/link.stl", b"3") == "link.stl"


@pytest.mark.parametrize("name", ["run.py", "page.html", "x.sh", "noending"])
def test_files_of_other_kinds_are_refused_with_those_that_are_taken(folder, name):
    with pytest.raises(RequestError, match=r"must end in \.yaml"):
        folder.add(name, b"")
    assert not list(folder.root.iterdir())


def test_dropped_files_stay_in_the_folder_whatever_they_are_called(folder):
    assert folder.add("../../up.yaml", b"x") == "up.yaml"
    assert [path.name for path in folder.root.iterdir()] == ["up.yaml"]


def test_results_of_one_name_have_places_of_their_own(folder):
    names = [folder.new_result("my arm/../x")[0] for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith("runs/") and ".." not in name for name in names)


def test_a_folder_that_cannot_be_written_still_takes_drafts_and_results(
    folder, monkeypatch
):
    folder.save("arm.yaml", TEXT, None)
    before = sorted(os.listdir(folder.root))
    monkeypatch.setattr(Folder, "is_writable", property(lambda self: False))
    draft = folder.save_draft("arm.yaml", TEXT + "# typed\n")
    name, place = folder.new_result("arm")
    assert not draft.is_relative_to(folder.root)
    assert folder.existing(name) == place
    assert name in {file.name for file in folder.listing()}
    assert sorted(os.listdir(folder.root)) == before


def test_text_that_is_none_is_refused_in_words(folder):
    (folder.root / "bad.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(RequestError, match="not UTF-8"):
        folder.read("bad.yaml", MOST)
    (folder.root / "big.yaml").write_bytes(b"x" * 100)
    with pytest.raises(RequestError, match="larger"):
        folder.read("big.yaml", 50)


class ReadingWorker(Worker):
    """Returns whether the file of a call is still the same a moment later."""

    def call(self, function, data, limit_s, watch=None):
        text = Path(data["file"]).read_text()
        sleep(0.01)
        return {"is_same": Path(data["file"]).read_text() == text}


def test_checks_side_by_side_leave_each_other_their_draft(folder):
    folder.save("arm.yaml", TEXT, None)
    backend = Backend(folder, StudioLimits(), ReadingWorker)
    try:
        with ThreadPoolExecutor(8) as pool:
            texts = [TEXT + k % 4 * "# typed\n" for k in range(16)]
            found = list(pool.map(backend.checked, ["arm.yaml"] * 16, texts))
    finally:
        backend.close()
    assert all(one["is_same"] for one in found)
