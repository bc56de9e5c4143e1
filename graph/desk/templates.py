"""The templates: every value is escaped, first characters that cannot be seen, then markup (decision 30)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import document, escaped, one_line, visible, visible_json
from planner_executor.graph.record.events import Event
from planner_executor.graph.text.drawing.statuses import ALL_LOOKS
from planner_executor.graph.text.event_text import event_text
from planner_executor.graph.text.review.bound import BOUND
from planner_executor.graph.words.name_list import counted
from planner_executor.graph.words.times import took

LINE_CHARACTERS = 400
STAMPED = ("desk.css", "desk.js")
"""Static files whose address holds their digest."""
MARKS: Mapping[str, str] = {status: look.mark for status, look in ALL_LOOKS.items()}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates of all desks, all read and compiled: a server's event loop must not read files."""
    made = Environment(
        loader=PackageLoader("planner_executor.graph.desk", "pages/html"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "line": escaped,
        "doc": document,
        "visible": visible,
        "clipped": clipped,
        "short": lambda text, most=LINE_CHARACTERS: one_line(str(text), most),
        "moment": moment,
        "counted": counted,
        "took": took,
        "json": json.dumps,
        "anchor": anchor,
    }
    made.globals |= {
        "marks": MARKS,
        "version": version,
        "sentence": _sentence,
        "answer_text": _answer_text,
        "also_bound": BOUND,
    }
    for name in made.list_templates():
        made.get_template(name)
    for name in STAMPED:
        version(name)
    return made


def _sentence(event: Event) -> str:
    return event_text(event).sentence


def _answer_text(answer: JsonValue) -> str:
    return document(answer) if isinstance(answer, str) else visible_json(answer)


def clipped(text: str, most: int = LINE_CHARACTERS) -> str:
    r"""Return a line of ours, in which words from outside are escaped already, of at most `most` characters.

    >>> clipped("the call of send failed: a\\u{202e}b", 30)
    'the call of send failed: a\\u{…'
    """
    line = visible(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def moment(unix_s: float) -> Markup:
    """Return a time as an element that the browser shows in its reader's zone; until then, in UTC."""
    at = datetime.fromtimestamp(unix_s, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="seconds"), at.strftime("%Y-%m-%d %H:%M UTC")
    )


def anchor(name: str) -> str:
    """Return the id of a row by the name of its run or step, which may be any text; a refreshed list moves rows by it.

    >>> anchor("news.1")
    'row-9104d1cb1940'
    """
    return f"row-{sha256(name.encode()).hexdigest()[:12]}"


@lru_cache
def version(name: str) -> str:
    """Return a digest of a static file, so that a browser asks for a changed one."""
    return sha256((files("planner_executor.graph.desk") / "static" / name).read_bytes()).hexdigest()[:12]
