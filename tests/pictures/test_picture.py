"""Pictures in every form: SVG, PNG, HTML, JSON, and in a notebook."""

import json
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from discreet.errors import DiscreetError, InvalidValue
from discreet.pictures import CATALOGUE, Picture, error_bars
from discreet.pictures.picture import MIME
from docs.pictures import generate
from tests.source import ROOT

NAMES = sorted(generate.GALLERY)


@pytest.fixture(scope="module")
def drawn():
    return {name: make() for name, make in generate.GALLERY.items()}


def words(svg: str) -> list[str]:
    """Every text in an SVG document."""
    texts = (node for node in ET.fromstring(svg).iter() if node.tag.endswith("}text"))
    return [line for text in texts for line in text.itertext()]


@pytest.mark.parametrize("name", NAMES)
def test_an_svg_holds_its_title_its_axes_and_its_numbers(drawn, name):
    picture = drawn[name]
    said = words(picture.svg())
    assert picture.title in said
    titles = set(re.findall(r'"title": "([^"]+)"', json.dumps(picture.spec, ensure_ascii=False)))
    assert {title for title in titles if title not in said} == set()
    assert sum(any(letter.isdigit() for letter in text) for text in said) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_in_the_legend_in_the_order_that_was_chosen(drawn, name):
    spec = drawn[name].spec
    domain = spec.get("encoding", {}).get("color", {}).get("scale", {}).get("domain")
    if domain is not None:
        said = words(drawn[name].svg())
        places = [said.index(line) for line in domain]
        assert places == sorted(places)


@pytest.mark.parametrize("name", NAMES)
def test_axes_have_titles(drawn, name):
    for encoding in encodings(drawn[name].spec):
        for channel in ("x", "y"):
            axis = encoding.get(channel)
            if axis and axis.get("type") == "quantitative" and "axis" in axis:
                assert "title" in axis


def encodings(part: Any) -> Iterator[dict[str, Any]]:
    """All encodings of a specification, layers and panels included."""
    if isinstance(part, dict):
        if "encoding" in part:
            yield part["encoding"]
        for value in part.values():
            yield from encodings(value)
    elif isinstance(part, list):
        for value in part:
            yield from encodings(value)


def test_a_png_is_as_large_as_the_scale_says(drawn):
    def size(image: bytes) -> tuple[int, int]:
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", image[16:24])
        return width, height

    once, twice = (size(drawn["laplace"].png(scale=scale)) for scale in (1, 2))
    assert once[0] > 560
    assert once[1] > 340
    assert twice == (2 * once[0], 2 * once[1])


class Loads(HTMLParser):
    """Collects what a browser would fetch, and the page's policy."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []
        self.policy = ""

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.found += [named[key] for key in ("src", "href", "srcset", "data") if key in named]
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""


def test_a_page_loads_nothing_and_forbids_itself_to(drawn):
    page = drawn["survey"].html()
    reader = Loads()
    reader.feed(page)
    assert reader.found == []
    assert "default-src 'none'" in reader.policy
    assert "http" not in reader.policy
    # Outside the library, addresses are names of formats only.
    own = re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)
    assert set(re.findall(r"https?://([\w.]+)", own)) <= {"www.w3.org", "vega.github.io"}
    assert "@import" not in own
    assert "url(http" not in own


def test_a_page_shows_the_picture_without_scripts_too(drawn):
    assert drawn["laplace"].svg() in drawn["laplace"].html()


def test_a_label_cannot_break_out_of_the_page():
    rows = [{"k": "</script><script>alert(1)</script>", "v": 1, "low": 0, "high": 2}]
    page = error_bars(rows, key="k", value="v", low="low", high="high", title="<b>&").html()
    assert "<script>alert(1)" not in page
    assert "<title>&lt;b&gt;&amp;</title>" in page


def test_a_notebook_gets_the_specification_and_an_image(drawn):
    shown = drawn["delta"]._repr_mimebundle_(include=None, exclude=None)
    assert shown[MIME] == drawn["delta"].spec
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/plain"] == repr(drawn["delta"])


@pytest.mark.parametrize("suffix", ["svg", "png", "html", "json"])
def test_a_picture_is_saved_as_its_ending_says(drawn, tmp_path, suffix):
    file = drawn["error"].save(tmp_path / f"error.{suffix}")
    head = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>", "json": b"{"}[suffix]
    assert file.read_bytes().startswith(head)
    if suffix == "json":
        assert json.loads(file.read_text()) == drawn["error"].spec


@pytest.mark.parametrize("name", ["error.pdf", "error", ".svg", "nowhere/error.svg"])
def test_a_file_that_cannot_be_is_refused_with_a_hint(drawn, tmp_path, name):
    with pytest.raises(InvalidValue, match="Hint: "):
        drawn["error"].save(tmp_path / name)


def test_nothing_is_fetched_for_a_picture():
    spec = {"data": {"url": "https://example.org/rows.json"}, "mark": "point"}
    with pytest.raises(InvalidValue, match="loads nothing"):
        Picture(spec).svg()
    with pytest.raises(InvalidValue, match="loads nothing"):
        Picture(spec).png()


def test_without_the_renderer_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['vl_convert'] = None\n"
        "from discreet.pictures import laplace\n"
        "shown = laplace()._repr_mimebundle_()\n"
        "assert 'image/svg+xml' not in shown and len(shown) == 2\n"
        "laplace().svg()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "NotInstalled" in done.stderr
    assert "pip install 'discreet[plot]'" in done.stderr


def test_the_renderer_is_loaded_only_when_something_is_drawn():
    program = (
        "import sys, discreet.pictures as p; p.delta(); assert 'vl_convert' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_gallery_is_what_is_drawn_today(drawn, name):
    # Not pixel by pixel: where a letter stands depends on the fonts of the machine.
    page = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert words(page) == words(drawn[name].svg())


def test_the_gallery_is_complete_and_shown():
    files = {path.stem for path in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert files == set(generate.GALLERY)
    page = (ROOT / "docs" / "how-to" / "draw.md").read_text(encoding="utf-8")
    assert [name for name in files if f"../pictures/{name}.svg" not in page] == []


BAD = [
    ("laplace", {"scales": []}),
    ("laplace", {"scales": [0]}),
    ("laplace", {"scales": [1, 2, 3, 4, 5, 6]}),
    ("neighbours", {"epsilon": 0}),
    ("neighbours", {"epsilon": "inf"}),
    ("neighbours", {"sensitivity": -1}),
    ("neighbours", {"observed": 1e9}),
    ("error", {"counts": [0]}),
    ("error", {"confidence": 1}),
    ("people", {"epsilon": "x"}),
    ("beliefs", {"epsilons": ["0"]}),
    ("delta", {"epsilon": 1e6}),
    ("composition", {"queries": 1}),
    ("composition", {"queries": 10**9}),
    ("composition", {"delta": 0}),
    ("survey", {"people": 0}),
    ("survey", {"share": 2}),
]


@pytest.mark.parametrize(("name", "options"), BAD, ids=str)
def test_what_cannot_be_drawn_is_refused_with_a_hint(name, options):
    with pytest.raises(DiscreetError, match="Hint: "):
        CATALOGUE[name](**options)
