"""HTML -> words and tags with their lines, in one pass.

The standard library's parser needs quadratic time for tags that are never closed: minutes for a broken file.
Source: WHATWG HTML Living Standard, section 13.2.5, "Tokenization", as far as words and block tags need it.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

# Atomic and possessive: a tag that is never closed is read once, and not again from each of its characters.
_TAG = re.compile(r"""<(/?)([A-Za-z][^\s/>]*)(?>=\s*"[^"]*"|=\s*'[^']*'|[^>])*+>""")
_RAW = {
    name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "noscript", "template", "iframe")
}


class Token(NamedTuple):
    """A stretch of text, or the lower-case name of a tag, and the line on which it starts."""

    kind: Literal["text", "start", "end"]
    value: str
    line: int


def html_tokens(text: str) -> Iterator[Token]:
    """Yield words and tags in order; comments and the content of scripts and styles are left out."""
    position, line, seen = 0, 1, 0
    while position < len(text):
        # From the last token on: counted from the start each time, a long page would take quadratic time.
        line, seen = line + text.count("\n", seen, position), position
        if text[position] != "<":
            end = _or_end(text.find("<", position), text)
            yield Token("text", text[position:end], line)
        elif match := _TAG.match(text, position):
            name, end = match[2].lower(), match.end()
            yield Token("end" if match[1] else "start", name, line)
            if name in _RAW and not match[1]:
                closing = _RAW[name].search(text, end)
                end = closing.start() if closing else len(text)
        else:
            end = _end_of_other(text, position)
            if end == position + 1:
                yield Token("text", "<", line)
        position = end


def _end_of_other(text: str, position: int) -> int:
    """Return the end of an unclosed comment, declaration or tag; a bare `<` ends after itself."""
    if text.startswith("<!--", position):
        end = text.find("-->", position + 4)
        return len(text) if end < 0 else end + 3
    following = text[position + 1 : position + 2]
    if following in {"!", "?", "/"}:
        return _or_end(text.find(">", position), text, 1)
    return len(text) if following.isascii() and following.isalpha() else position + 1


def _or_end(found: int, text: str, beyond: int = 0) -> int:
    return len(text) if found < 0 else found + beyond
