"""Texts from files in pictures, pages, results and on terminals: they are shown, and do nothing."""

import json
import re

import pytest
from matplotlib.text import Text
from synthetic import synthetic_run

from lissom.commands import cli
from lissom.commands.output import print_json, table
from lissom.describe import DescriptionError, Robot
from lissom.files.errors import visible
from lissom.files.summary import Summary
from lissom.show.axes import finish, new_figure, page_title
from lissom.show.viewer import animation_page

ROBOT = {
    "name": "r",
    "links": [{"name": "a", "joint": {"type": "revolute"}, "rigid": {"mass": 1.0}}],
}


def renamed(**names):
    return {
        **ROBOT,
        "name": names.get("robot", "r"),
        "links": [{**ROBOT["links"][0], "name": names.get("link", "a")}],
    }


@pytest.mark.parametrize("name", ["upper", "Arm-2_b", "größe", "腕", "a" * 64])
def test_names_have_letters_digits_dashes_and_underscores(name):
    assert Robot.from_dict(renamed(link=name)).link_names == (name,)


@pytest.mark.parametrize(
    "name",
    ["a$b", "a b", "<b>", "a\x1b[31m", "a.b", "a/b", "7", "tip", "a\u202eb", "a" * 65],
)
def test_other_names_are_refused_with_what_is_accepted(name):
    with pytest.raises(DescriptionError, match="a name (may|must|has)") as failure:
        Robot.from_dict(renamed(link=name))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", str(failure.value))


@pytest.mark.parametrize("name", ["", "two\nlines", "\x1b[2J", "x" * 121])
def test_the_name_of_a_robot_is_one_line_of_text(name):
    with pytest.raises(DescriptionError, match="name"):
        Robot.from_dict(renamed(robot=name))


def test_a_dollar_sign_is_drawn_as_one_and_formulas_stay_formulas(tmp_path):
    figure = new_figure(3, 2)
    page_title(figure, r"costs $5 and $\frac{")
    axes = figure.add_subplot()
    axes.set_title("one $ alone")
    axes.semilogy([1, 2], [1e-9, 1e9], label="a $ b $ c")
    axes.legend()
    finish(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    drawn = {text.get_text(): text for text in figure.findobj(Text)}
    assert not drawn["one $ alone"].get_parse_math()
    # Powers of ten on the axis are formulas.
    powers = [text for word, text in drawn.items() if "mathdefault" in word]
    assert powers and all(text.get_parse_math() for text in powers)


def test_a_title_cannot_paste_program_or_data_into_the_page():
    run = synthetic_run()
    run.attrs["name"] = "__SCRIPT__ __DATA__ </script><b> & __NAME__"
    page = animation_page(run, 1.0, 30)
    title = re.search("<title>(.*?)</title>", page, re.DOTALL)[1]
    assert title == "__SCRIPT__ __DATA__ &lt;/script&gt;&lt;b&gt; &amp; __NAME__"
    data = re.search('id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert "links" in json.loads(data)


def test_escape_sequences_do_not_reach_the_terminal(capsys, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text('name: "\\e]0;owned\\a\\e[31m"\nlinks: []\nbad\x9fkey: 1\n')
    for words in (["validate", str(file)], ["show", "\x1b[2Jnothing"]):
        assert cli.main(words) == 2
        out = capsys.readouterr()
        assert "\x1b" not in out.err + out.out and "\x9f" not in out.err + out.out


def test_json_of_any_text_reads_back_and_holds_no_control_characters(capsys):
    text = "\x1b[2J \x9b \u202e \udc80 ü"
    print_json({"name": text})
    out = capsys.readouterr().out
    assert json.loads(out)["name"] == text
    assert not re.search("[\x1b\x80-\x9f\u202e\udc80]", out)


def test_control_characters_are_written_out():
    assert visible("a\x1b[31m\n\u202e") == r"a\x1b[31m\n\u202e"
    assert visible("a\nb", keep="\n") == "a\nb"
    grid = table(Summary("\x1b]0;x", (), ("\x07",), (("\x9b1m",),)))
    assert "\x1b" not in str(grid.title) and "\x07" not in str(grid.columns[0].header)
