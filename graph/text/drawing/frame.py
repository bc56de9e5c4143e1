"""The frame of every picture: its size in pixels, a card, and its colours on a dark page.

Attributes hold the colours of a light page, which every renderer reads. On a dark page the picture is inverted, with
hues and contrasts kept. All rules are in `@media`, so that converters without a page ignore them; all pictures have the
same rules, so that many fit in one page (decision 45).
"""

from collections.abc import Iterable
from html import escape

SHRINKS_BELOW = 2000
"""Wider pictures keep their size in a page and scroll; their text would be too small to read."""

_DARK = "{filter:invert(.93) hue-rotate(180deg)}"
STYLE = (
    "<style>@media screen{svg.drawing.fits{max-width:100%;height:auto}"
    f"[data-jp-theme-light=false] svg.drawing,.vscode-dark svg.drawing{_DARK}}}"
    "@media screen and (prefers-color-scheme:dark){"
    f"svg.drawing:not([data-jp-theme-light=true] *,.vscode-light *){_DARK}}}</style>"
)
"""JupyterLab and VS Code have themes of their own, whatever the system's is."""


def framed(extent: tuple[int, int], name: str, description: str, font: str, parts: Iterable[str]) -> str:
    """Return a picture of these parts, with a name and, unless it is empty, a description for screen readers."""
    width, height = extent
    fits = " fits" if width < SHRINKS_BELOW else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing{fits}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}" font-family="{font}">'
    )
    card = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="14" fill="#fdfdfe" stroke="#e2e8f0"/>'
    labels = [f"<title>{escape(name)}</title>", *([f"<desc>{escape(description)}</desc>"] if description else [])]
    return "\n".join([head, *labels, STYLE, card, *parts, "</svg>\n"])
