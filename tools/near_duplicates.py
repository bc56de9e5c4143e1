"""Texts that say the same in almost the same words, as copies and versions of a document do."""

from collections.abc import Set

from planner_executor.tools.words import words_in

_SAME = 0.8
_NEGATIONS = frozenset({"no", "not", "never", "none", "nor", "neither", "without", "cannot", "t"})  # t as in: don't


def telling(text: str) -> frozenset[str]:
    """Return the words by which similar texts contradict each other: numbers and negations."""
    return frozenset(word for word in words_in(text) if word in _NEGATIONS or any(map(str.isdigit, word)))


def are_near(left: str, right: str) -> bool:
    """Whether two texts share most of their words, and all numbers and negations.

    >>> are_near("The plan is approved before it runs.", "The plan is approved before it runs!")
    True
    >>> are_near("It grew by 12 per cent in all of 2023.", "It grew by 12 per cent in all of 2024.")
    False
    """
    return _overlap(frozenset(words_in(left)), frozenset(words_in(right))) >= _SAME and telling(left) == telling(right)


def _overlap(left: Set[str], right: Set[str]) -> float:
    """Return the Jaccard index of two sets of words, 1 if both are empty."""
    return len(left & right) / len(left | right) if left or right else 1.0
