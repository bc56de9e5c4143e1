"""Words of a question -> a valid FTS5 query."""

from planner_executor.tools.words import content_words, spelled, words_in

_MOST_WORDS = 40


def query_words(query: str) -> tuple[str, ...]:
    """Return the words to look for; stop words only if there are no others.

    >>> query_words('what is "offshore wind" (2024)?'), query_words("to be or not")
    (('offshore', 'wind', '2024'), ('to', 'be', 'or', 'not'))
    """
    words = content_words(query) or list(dict.fromkeys(words_in(query)))
    return tuple(word.encode("utf-8", "replace").decode("utf-8") for word in words[:_MOST_WORDS])


def match_any(words: tuple[str, ...]) -> str:
    """Return the FTS5 query for text that holds any of the words; names with signs are indexed as letters.

    >>> match_any(("wind", "OR", "c++"))
    '"wind" OR "OR" OR "cplusplus"'
    """
    return " OR ".join(f'"{spelled(word)}"' for word in words)


def names_with_signs(text: str) -> str:
    """Return the names of a text that the index would cut at their signs, as letters.

    >>> names_with_signs("From C++ and .NET to Rust")
    'cplusplus dotnet'
    """
    return " ".join(letters for word in words_in(text) if (letters := spelled(word)) != word)
