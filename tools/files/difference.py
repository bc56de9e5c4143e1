"""What becomes of a file, as a unified diff."""

from difflib import unified_diff

MOST_BYTES = 200_000
MOST_LINES = 4_000
"""Of either side: a diff of more takes long, and nobody reads it."""


def difference(path: str, before: bytes | None, after: bytes) -> str:
    """Return a unified diff of a file, or one line if there is none to show; `before` is None if the file is new.

    >>> print(difference("a.txt", b"one\\ntwo\\n", b"one\\n2\\n"))
    --- a.txt
    +++ a.txt
    @@ -1,2 +1,2 @@
     one
    -two
    +2
    """
    if before == after:
        return f"{path} stays as it is"
    was, now = _lines(before or b""), _lines(after)
    if was is None or now is None:
        held = "is new" if before is None else f"had {len(before):,} bytes"
        return f"{path} {held}, and would have {len(after):,} bytes"
    named = path if before is not None else "/dev/null"
    return "\n".join(unified_diff(was, now, named, path, lineterm="")) or f"{path} is new and empty"


def _lines(content: bytes) -> list[str] | None:
    """Return the lines of a text, None if it is no text, or too long for a diff."""
    if len(content) > MOST_BYTES:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "  (no line break at the end)"
    else:
        lines.pop()
    return lines if len(lines) <= MOST_LINES and "\0" not in text else None
