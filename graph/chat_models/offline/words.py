"""Texts for plans: one line, a capital, a file name."""

from tools.words import spelled, words_in


def one_line(text: str, most: int) -> str:
    """Return the text with single spaces and printable letters only, cut at a word to at most `most` characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]


def capitalised(text: str) -> str:
    """Return the text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def slug(text: str, most: int = 60) -> str:
    """Return a file name for a text, without suffix.

    >>> slug("Latest trends in renewable energy"), slug(".NET or C++")
    ('latest-trends-in-renewable-energy', 'dotnet-or-cplusplus')
    """
    words = " ".join(map(spelled, words_in(text)))
    return one_line(words, most).replace(" ", "-") or "report"
