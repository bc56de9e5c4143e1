"""Words that resemble a yes or a no without being one.

The contract of a review takes them as feedback, whoever sends them. A person at a prompt is asked again
instead: "yep" is no wish for another plan (decision 0049).
"""

import re
from difflib import get_close_matches

from planner_executor.graph.review.decision import FINAL, NO, YES

MAX_WORDS = 4
"""More words than these are feedback."""
CLOSE = 0.75
"""How much a word resembles another, of 1 (`difflib`)."""

DECISIONS = frozenset((*YES, *NO, *FINAL))
_LIKE_YES = """
yep yeah yea yup ya yo yay okay okey okie okidoki kk sure fine good great perfect agree agreed accept accepted confirm
confirmed allow allowed correct right alright true go proceed run start do continue lgtm ship done oui si da ja hai
"""
_LIKE_NO = """
nope nah nay never not non nein net nee false deny denied decline declined refuse refused abort quit exit end halt don
dont wait later skip none
"""
LIKE = DECISIONS.union(_LIKE_YES.split(), _LIKE_NO.split())
"""Words that a person may mean as a decision."""
_ASIDE = "a ahead all and but i is it looks me now plan please so t thank thanks that the then this you"
ASIDE = frozenset(_ASIDE.split())
"""Words that add nothing to a decision."""

_WORDS = re.compile(r"[^\W_]+")
_REPEATED = re.compile(r"(.)\1+")


def is_unclear(words: str) -> bool:
    """Whether words resemble a decision, or are too short to say what to change.

    >>> [words for words in ("yep", "aproove", "No thanks!", "k", "?", "yes", "use one search") if is_unclear(words)]
    ['yep', 'aproove', 'No thanks!', 'k', '?']
    """
    if words.strip().lower() in DECISIONS:
        return False
    said = _WORDS.findall(words.lower())
    if len("".join(said)) <= 2:
        return True
    if len(said) > MAX_WORDS or not all(word in ASIDE or _is_like(word) for word in said):
        return False
    return any(_is_like(word) for word in said)


def _is_like(word: str) -> bool:
    # With doubled letters reduced: "yesss" and "noooo" are decisions with a key held down.
    once = _REPEATED.sub(r"\1", word)
    return word in LIKE or once in LIKE or bool(get_close_matches(word, _LONG, n=1, cutoff=CLOSE))


_LONG = [word for word in sorted(DECISIONS) if len(word) >= 4]
"""Decisions that are long enough to be misspelled and still recognised."""
