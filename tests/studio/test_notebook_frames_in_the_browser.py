"""What a notebook shows inline is drawn when it comes into view, wherever it was when it was loaded."""

import pytest
from playwright.sync_api import expect
from studio_browser import chromium

import lissom as ls

PATIENCE = 60_000  # ms: other tests keep this machine busy
# By the clock: frames of a picture are not asked for where none is seen.
OFTEN = {"timeout": PATIENCE, "polling": 200}
# Number of colours in the picture: one where nothing is drawn.
COLOURS = """() => {
  const picture = document.getElementById('view');
  if (!picture.width || !picture.height) return 0;
  const copy = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height });
  const pen = copy.getContext('2d');
  pen.drawImage(picture, 0, 0);
  return new Set(new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
}"""
# Where a notebook holds an output that is not seen: far below, or in a part that is folded up.
PLACES = {
    "below": ("<div style='height: 6000px'></div>", "window.scrollTo(0, 5900)"),
    "folded": (
        "<style>#output { display: none }</style>",
        "document.getElementById('output').style.display = 'block'",
    ),
}


@pytest.fixture(scope="module")
def frame():
    run = ls.simulate("simple-pendulum", [0.3], t_end=0.1, output_dt=0.01)
    return run.animate()._repr_html_()


@pytest.mark.parametrize("place", PLACES)
def test_a_frame_that_loads_out_of_sight_is_drawn_once_it_is_seen(place, frame):
    before, look = PLACES[place]
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_content(f"{before}<div id='output'>{frame}</div>")
        inner = page.frames[1]
        expect(inner.locator("#clock")).to_be_attached(timeout=PATIENCE)
        # Its program is at its end.
        inner.wait_for_function("() => view.camera !== undefined", **OFTEN)
        page.evaluate(look)
        inner.wait_for_function(f"() => ({COLOURS})() > 50", **OFTEN)
        assert not errors
