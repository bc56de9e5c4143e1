"""Text from models, tools and files, made safe for a terminal."""

import re

_ESCAPES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"  # titles, links, device strings
    "|\x1b[ -/]*[0-~]"
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # no width
    "\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"  # fillers, variants, no characters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"  # invisible signs, tags
)
_BREAKS = re.compile("\r\n|[\x85\u2028\u2029]")
_HALVES = re.compile("[\ud800-\udfff]")


def harmless(text: str) -> str:
    """Return the text without anything that steers a terminal, changes the direction or cannot be seen.

    Newlines and tabs stay. Half a surrogate pair, which no terminal can show, becomes a replacement character.

    >>> harmless("\\x1b[31mred\\x1b[0m\\tand \\x1b]0;title\\x07plain")
    'red\\tand plain'
    """
    if text.isascii() and text.isprintable():
        return text
    seen = _UNSEEN.sub("", _ESCAPES.sub("", _BREAKS.sub("\n", text)))
    return _HALVES.sub("\ufffd", seen)


def one_line(text: str, most: int = 500) -> str:
    """Return the text as one harmless line of at most `most` characters.

    >>> one_line("two\\nlines", 6)
    'two l…'
    """
    line = " ".join(harmless(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"
