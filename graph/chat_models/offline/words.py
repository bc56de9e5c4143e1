"""Words that say what a text is about."""

import re

_STOP_WORDS = """
a about after all also an and any are as at be because been before between both but by can could did do does for from
had has have how i if in into is it its let me may might more most much must my no nor not of off on or our out over
own please should so some such than that the their them then there these they this those through to too under up upon
us very was we were what when where whether which while who whom whose why will with within without would you your
"""
_STOPPED = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+")


def telling_words(text: str) -> list[str]:
    """Return the words that carry meaning in lower case, each once, in order.

    >>> telling_words("How this agent keeps side effects safe")
    ['agent', 'keeps', 'side', 'effects', 'safe']
    """
    return list(dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in _STOPPED))


def one_line(text: str, most: int) -> str:
    """Return the text with single spaces and printable letters only, cut at a word to at most `most` characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0]


def capitalised(text: str) -> str:
    """Return the text with its first letter as a capital, the others as they are."""
    return text[:1].upper() + text[1:]


def slug(text: str, most: int = 60) -> str:
    """Return a file name for a text, without suffix.

    >>> slug("Latest trends in renewable energy")
    'latest-trends-in-renewable-energy'
    """
    words = " ".join(_WORD.findall(text.lower()))
    return one_line(words, most).replace(" ", "-") or "report"
