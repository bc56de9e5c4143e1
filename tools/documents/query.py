"""Words of a question -> a valid FTS5 query."""

from tools.words import content_words, words_in

_MOST_WORDS = 40


def query_words(query: str) -> tuple[str, ...]:
    """Return the words to look for; stop words only if there are no others.

    >>> query_words('what is "offshore wind" (2024)?'), query_words("to be or not")
    (('offshore', 'wind', '2024'), ('to', 'be', 'or', 'not'))
    """
    words = content_words(query) or list(dict.fromkeys(words_in(query)))
    return tuple(word.encode("utf-8", "replace").decode("utf-8") for word in words[:_MOST_WORDS])


def match_any(words: tuple[str, ...]) -> str:
    """Return the FTS5 query for text that holds any of the words.

    >>> match_any(("wind", "OR"))
    '"wind" OR "OR"'
    """
    return " OR ".join(f'"{word}"' for word in words)
