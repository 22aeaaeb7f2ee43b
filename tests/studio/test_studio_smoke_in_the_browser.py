"""The studio opens in a real browser, shows the library, and says what is wrong with a file at its field and line."""

from playwright.sync_api import expect
from studio_browser import chromium, nameless_elements, opened_page, served_studio
from studio_client import InlineWorker

from lissom.describe import library_names

PATIENCE = 60_000  # ms: other tests keep this machine busy
BROKEN = """lissom: 1
name: arm            # my arm
links:
  - name: upper
    joint: {type: revolute, dh: {a: 0.5, alpha: 0, d: 0, theta: 0}}
    beam:
      section: {shape: tube, outer: -0.03, inner: 0.02}   # a minus too many
      material: unobtainium
      elements: 2
"""


def test_the_studio_opens_and_marks_the_mistakes_of_a_file(tmp_path):
    (tmp_path / "arm.yaml").write_text(BROKEN)
    with served_studio(tmp_path, InlineWorker) as house, chromium() as browser:
        expect.set_options(timeout=PATIENCE)
        page = opened_page(browser, house)
        expect(page.locator(".card")).to_have_count(len(library_names()))
        assert "token" not in page.url
        assert not nameless_elements(page)
        page.get_by_role("button", name="arm.yaml").click()
        outer = page.get_by_label("links.upper.beam.section.outer").first
        expect(outer).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".problems li")).to_have_count(2)
        expect(page.locator(".problems")).to_contain_text("line 7")
        outer.fill("0.03")
        outer.press("Enter")
        expect(page.locator(".problems li")).to_have_count(1)
        expect(page.locator(".problems")).to_contain_text("unobtainium")
        text = page.locator(".cm-content").inner_text()
        assert "# a minus too many" in text and "outer: 0.03," in text
        assert not nameless_elements(page)
        assert page.hosts == {house.address.split("/")[2]}
        assert not page.complaints
