"""A review in a notebook: the blocks of a description as HTML; the plan stands beside it as a picture."""

from html import escape

from planner_executor.graph.plain_text.sanitize import visible
from planner_executor.graph.text.review.frame import Data, is_plan, to_blocks, widened
from planner_executor.graph.text.review.layout import ITEM

COLUMNS = 80
"""Width of a review in a notebook."""
_PROSE = f"margin:6px 0;max-width:{COLUMNS}ch;overflow-wrap:anywhere;text-align:left"
_DATA = (
    "margin:6px 0;padding:6px 10px;overflow:auto;text-align:left;font-size:12px;background:none;color:inherit;"
    "border:1px solid color-mix(in srgb,currentColor 30%,transparent)"
)


def review_html(description: str) -> str:
    """Return a description as HTML; code within prose keeps its backticks, which delimit words from outside."""
    parts = []
    # Laid out for a notebook's width from the words alone: an open request is kept as its description.
    for block in widened(to_blocks(description), COLUMNS):
        if is_plan(block):
            continue
        if isinstance(block, Data):
            told = escape(visible("\n".join(block.lines)))
            parts.append(f'<pre style="{_DATA}">{told}</pre>')
            continue
        indent = ";margin-left:1.5em" if block.text.startswith(ITEM) else ""
        parts.append(f'<p style="{_PROSE}{indent}" dir="auto">{escape(visible(block.text))}</p>')
    return "".join(parts)
