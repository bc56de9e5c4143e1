"""Words of a text: content words, stop words and stems."""

import re

_STOP_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but by
can could did do does doing done down during each either else ever few for from further get gets got had has have
having he her here hers him his how i if in into is it its itself just let like may me might more most much must my
no nor not of off on once one only or other our ours out over own per please rather same shall she should so some
such tell than that the their theirs them then there these they this those through to too under until up upon us
very was we were what when where whether which while who whom whose why will with within without would yet you your
yours
"""
_STOPPED = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+\+\+(?!\+)|(?<![^\W_])[a-z]#(?!\w)|(?<!\w)\.net(?![^\W_])|[^\W_]+")
_SIGNS = str.maketrans({"+": "plus", "#": "sharp", ".": "dot"})
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))
_SHORTEST_STEM = 3


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, stop words included.

    Names that consist of a letter and signs are words, since without them they are other names.

    >>> words_in("Plan_v2, then 40% off!"), words_in("From C++ and C# to .NET.")
    (['plan', 'v2', 'then', '40', 'off'], ['from', 'c++', 'and', 'c#', 'to', '.net'])
    """
    return _WORD.findall(text.lower())


def spelled(word: str) -> str:
    """Return a word with its signs as letters.

    >>> [spelled(word) for word in ("c++", "c#", ".net", "wind")]
    ['cplusplus', 'csharp', 'dotnet', 'wind']
    """
    return word.translate(_SIGNS)


def content_words(text: str) -> list[str]:
    """Return the words that are not stop words, each once, in order.

    >>> content_words("How this agent keeps its agent safe")
    ['agent', 'keeps', 'safe']
    """
    return list(dict.fromkeys(word for word in words_in(text) if word not in _STOPPED))


def stem(word: str) -> str:
    """Return one form for the plural, -ing and -ed forms of a lower-case word.

    A coarse cut in the manner of Harman, "How effective is suffixing?", 1991: good for counting, not for showing.

    >>> [stem(word) for word in ("effects", "effect", "policies", "pass", "planned", "plans")]
    ['effect', 'effect', 'policy', 'pass', 'plan', 'plan']
    """
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= _SHORTEST_STEM:
            cut = word[: -len(ending)] + instead
            doubled = ending in {"ing", "ed"} and cut[-1] == cut[-2] and cut[-1] not in "ls"
            return (cut[:-1] if doubled else cut).removesuffix("e")
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM else word
