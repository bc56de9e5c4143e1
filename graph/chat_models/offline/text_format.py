"""Text formatting for plans."""

from tools.words import words_in


def one_line(text: str, most: int) -> str:
    """Return the text on one line with printable characters only, cut at a space to at most `most` characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def slug(text: str, most: int = 60) -> str:
    """Return a file name for a text, without extension.

    >>> slug("Latest trends in renewable energy")
    'latest-trends-in-renewable-energy'
    """
    words = " ".join(words_in(text))
    return one_line(words, most).replace(" ", "-") or "report"
