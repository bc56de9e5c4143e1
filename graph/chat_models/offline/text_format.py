"""Text formatting for plans."""

from collections.abc import Iterable

from planner_executor.tools.words import content_words, spelled, words_in

_SLUG_CHARACTERS = 60
_COURTESY = frozenset(
    {"add", "answer", "ask", "brief", "don", "draft", "file", "give", "go", "keep", "kept", "look", "make", "need"}
    | {"plan", "put", "read", "report", "save", "stay", "store", "thank", "thanks", "use", "using", "want", "write"}
)
"""Words of a wish that ask for nothing by themselves."""
_TURNS = frozenset(
    {"cannot", "except", "instead", "neither", "never", "no", "none", "nor", "not", "only", "than", "unless", "without"}
)
"""Words that turn what stands beside them into something else."""


def short_line(text: str, most: int) -> str:
    """Return the text on one line with printable characters only, cut at a space to at most `most` characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]


def asks_for_more(wish: str, understood: Iterable[str]) -> bool:
    """Whether a wish says anything besides the parts that were understood.

    >>> asks_for_more("please use one search", ["one search"]), asks_for_more("one search in rhyme", ["one search"])
    (False, True)
    >>> asks_for_more("do not write to notes.md", ["to notes.md"])
    True
    """
    for part in understood:
        wish = wish.replace(part, " . ", 1)
    return not _TURNS.isdisjoint(words_in(wish)) or any(word not in _COURTESY for word in content_words(wish))


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def slug(text: str) -> str:
    """Return a file name for a text, without extension.

    >>> slug("Latest trends in renewable energy"), slug(".NET or C++")
    ('latest-trends-in-renewable-energy', 'dotnet-or-cplusplus')
    """
    words = " ".join(map(spelled, words_in(text)))
    return short_line(words, _SLUG_CHARACTERS).replace(" ", "-") or "report"
