"""From Vega-Lite to SVG, PNG and HTML, without a network.

The renderer is imported when the first picture is drawn: it is an extra, and takes a second.
"""

from __future__ import annotations

import json
from html import escape
from types import ModuleType
from typing import Any

from discreet.errors import InvalidValue, NotInstalled
from discreet.pictures.visible import visible_in

VEGA_LITE = "5.20"
"""The version that specifications here are written for."""

# Even a page that somebody tampered with could load nothing. Vega compiles its expressions.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ margin: 2rem; background: white; }} svg {{ max-width: 100%; height: auto; }}</style>
<script>{library}</script>
</head>
<body>
<div id="picture"></div>
<noscript>{svg}</noscript>
<script>
vegaEmbed("#picture", {spec}, {{mode: "vega-lite", renderer: "svg", actions: false}});
</script>
</body>
</html>
"""


def svg(spec: dict[str, Any]) -> str:
    """An SVG document."""
    renderer = _renderer()
    try:
        made: str = renderer.vegalite_to_svg(
            visible_in(spec), vl_version=VEGA_LITE, allowed_base_urls=[]
        )
    except ValueError as error:
        raise _undrawable(error) from None
    return made


def png(spec: dict[str, Any], *, scale: float) -> bytes:
    """A PNG image."""
    if not 0 < scale <= 10:
        raise InvalidValue(f"scale = {scale} is not between 0 and 10.", hint="scale=2")
    renderer = _renderer()
    try:
        made: bytes = renderer.vegalite_to_png(
            visible_in(spec), vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[]
        )
    except ValueError as error:
        raise _undrawable(error) from None
    return made


def html(spec: dict[str, Any], *, title: str) -> str:
    """A page that holds the library, the specification, and the SVG for readers without scripts."""
    still = svg(spec)
    library: str = _renderer().javascript_bundle(vl_version=VEGA_LITE)
    return _PAGE.format(
        policy=_POLICY,
        title=escape(title),
        library=library.replace("</script", "<\\/script"),
        svg=still,
        # A label such as "</script>" must not end the script that it stands in.
        spec=json.dumps(visible_in(spec)).replace("<", "\\u003c"),
    )


def _renderer() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise NotInstalled(
            "pictures are drawn by vl-convert-python, which is not installed.",
            hint="pip install 'discreet[plot]', or save the picture as .json",
        ) from None
    found: ModuleType = vl_convert
    return found


def _undrawable(error: ValueError) -> InvalidValue:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return InvalidValue(
        f"this is not a specification that can be drawn here: {' '.join(lines[:2])}",
        hint="a picture holds its own data, and loads nothing.",
    )
