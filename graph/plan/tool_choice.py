"""The choice of tools by words: those that a text names, and those whose words fit it, rare words first."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from planner_executor.graph.plan.catalog import ToolSpec

IN_NAME = 2
"""How often a word of a tool's name counts; one of its description, or of an argument's name, counts once."""
_TOKEN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WITHOUT_CONTENT = frozenset(
    _TOKEN.findall(
        "a an and are as at be but by do each every for from has have how i if in is it its me my no not of on or our"
        " so than that the their them then there this to was we were what when which who will with you your"
    )
)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text without case and plural; one in camel case counts whole and in parts.

    >>> sorted(words_of("list_openInvoices, the queries"))
    ['invoice', 'list', 'open', 'openinvoice', 'query']
    """
    found = {part for token in _TOKEN.findall(text) for part in (token, *_HUMP.split(token))}
    return frozenset(_singular(word.casefold()) for word in found) - WITHOUT_CONTENT


def named_in(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that stand in a text, in any case, and are no part of a longer word.

    >>> named_in("Use Send_Mail, not resend.", ["send_mail", "send"])
    frozenset({'send_mail'})
    """
    folded = text.casefold()
    return frozenset(name for name in names if (own := name.casefold()) in folded and _stands_in(own, folded))


@dataclass(frozen=True)
class ToolChoice:
    """Chooses among tools; what does not depend on the text is made once."""

    tools: Sequence[ToolSpec]

    def of(self, text: str, most: int, needed: Collection[str] = ()) -> frozenset[str]:
        """Return the names of the tools that fit a text.

        Args:
            text: What is wanted.
            most: Most tools, unless more of them are named or needed. Of equal ones the first are chosen.
            needed: Names of tools that are chosen in any case.
        """
        always = named_in(text, self._words) | frozenset(needed).intersection(self._words)
        weights = {word: self._weights[word] for word in words_of(text) if self._weights.get(word)}
        left = {
            name: shared
            for name, own in self._words.items()
            if name not in always and (shared := own.keys() & weights.keys())
        }
        chosen = set(always)
        while left and len(chosen) < most:
            best = max(left, key=lambda name: sum(weights[word] * self._words[name][word] for word in left[name]))
            chosen.add(best)
            # A word counts for less with each tool chosen for it, so that it does not crowd out the others.
            weights |= {word: weights[word] * 3 // 4 for word in left.pop(best)}
        return frozenset(chosen)

    @cached_property
    def _words(self) -> Mapping[str, Mapping[str, int]]:
        """Tool -> its words, each with how often it counts."""
        return {tool.name: _words_of_tool(tool) for tool in self.tools}

    @cached_property
    def _weights(self) -> Mapping[str, int]:
        """Word -> its weight, 0 if all tools have it; whole numbers, so that no order of a sum changes the choice."""
        with_word = Counter(word for own in self._words.values() for word in own)
        return {word: round(1_000_000 * log(len(self.tools) / count)) for word, count in with_word.items()}


def _words_of_tool(tool: ToolSpec) -> dict[str, int]:
    about = words_of(" ".join([tool.description, *tool.parameters]))
    return {**dict.fromkeys(about, 1), **dict.fromkeys(words_of(tool.name), IN_NAME)}


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
