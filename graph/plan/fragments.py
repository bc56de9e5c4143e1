"""Parts of a plan that stand outside of it in a model's answer: none of them is dropped silently (decision 128)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.plan.json_values import parts_of
from planner_executor.graph.plan.normalization import ALIASES, COMMENTARY, PLAN_KEYS, STEP, looks_like_plan, unwrap

FIELDS = ("id", "objective", "tool", "tools", "args", "depends_on")
"""Two of these, in any accepted spelling, make an object part of a plan."""
SPELLINGS = {name: name for name in FIELDS} | {name: field for name, field in ALIASES.items() if field in FIELDS}
SPELLINGS |= {"required_tools": "tools", STEP: "id"}
NAMING = ("tool", "tools", "required_tools", "tool_name", "name", "function", "action")
"""Keys that name the tool of a step or of a call."""
ELLIPSES = ("...", "…")
MOST_QUOTED = 100
"""Most parts of a plan that may be quoted beside it."""


def _keys(names: Sequence[str], opens: str, closes: str) -> str:
    """Return the pattern of a key and its colon."""
    return rf"""{opens}(?:{"|".join(names)}){closes}\s*[:：]"""  # noqa: RUF001  (full-width signs are meant)


# In text that begins as JSON does, keys may lack quotes; between words of prose they count only if quoted.
_BARE, _QUOTED = ("""["'{,\\s]""", """["']?"""), ("""["']""", """["']""")
_FIELD = re.compile(_keys(["(" + "|".join(SPELLINGS) + ")"], *_BARE))
_NAMED = re.compile(_keys(NAMING, *_BARE) + r"""\s*\[?\s*["']([^"']{1,200})["']""")
_PLAN_KEY = re.compile(_keys(PLAN_KEYS, *_BARE))

_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
_SKETCH = re.compile(r'[\[,:]\s*"?(?:\.\.\.|…)')

_STEP_MEMBER = _keys([*SPELLINGS], *_QUOTED)
_LOOSE = re.compile(
    rf"""(?:\A|[,}}\]])\s*{_keys(PLAN_KEYS, *_QUOTED)}"""  # a member of a plan after another
    rf"""|\A[\s\]}}]*,?\s*{_STEP_MEMBER}"""  # a member of a step after a value
    rf"""|{_STEP_MEMBER}\s*(?:"(?:[^"\\]++|\\.)*+"|[\w.+-]++)\s*,\s*{_STEP_MEMBER}"""  # two members of a step
    r"""|["']\s*\]\s*\}""",  # the end of a list in an object
    re.DOTALL,
)
_OWN_KEY = re.compile(r"""["']\w+["']\s*:\s*\Z""")
_AFTER_ANOTHER = re.compile(r"""(?:["'}\]\d]|\A)\s*,\s*["']\w+["']\s*:\s*\Z""")
_COMMENTARY = re.compile(_keys(COMMENTARY, *_QUOTED))


def is_sketch(text: str) -> bool:
    """Whether text that is no JSON shows a mere form, with ellipses in the places of values."""
    return bool(_SKETCH.search(_TEXT.sub(lambda found: found[0] if found[0][1:-1] in ELLIPSES else "", text)))


@dataclass(frozen=True)
class PlanShape:
    """What a plan looks like among the JSON of an answer, and what belongs to one outside of it.

    `tools` are known, and something may be said beside it of comments on the steps `commented`.
    """

    tools: frozenset[str] = frozenset()
    commented: tuple[str, ...] = ()

    def is_plan(self, value: Any) -> bool:
        """Whether a value is a plan or a revision, valid or not."""
        return looks_like_plan(value)

    def has_steps(self, value: Any) -> bool:
        """Whether a plan has a list of steps, so that at most its answer may be missing."""
        plan, _ = unwrap(value)
        return isinstance(plan, dict) and isinstance(plan.get("steps"), list)

    def is_lost(self, value: Any, plans: Sequence[Any]) -> bool:
        """Whether a value that is no plan holds a part of one that none of the plans beside it has."""
        # Bounded, since each part is compared with every object of every plan.
        parts = [found for found in _objects(value) if self._is_part(found)]
        return len(parts) > MOST_QUOTED or not all(_quotes(part, plans) for part in parts)

    def is_part(self, text: str) -> bool:
        """Whether text that begins as JSON and cannot be read holds a plan or a part of one, and no mere sketch."""
        if is_sketch(text):
            return False
        fields, named = {SPELLINGS[key] for key in _FIELD.findall(text)}, _NAMED.findall(text)
        return bool(_PLAN_KEY.search(text)) or len(fields) > 1 or not self.tools.isdisjoint(named)

    def is_torn(self, words: Sequence[str], leads: Sequence[str]) -> bool:
        """Whether members of a plan stand among the words of an answer, outside of all brackets.

        Args:
            words: The words before, between and after the JSON values.
            leads: Those directly before a plan, which may end with its own key.
        """
        if any(_AFTER_ANOTHER.search(lead) and not _COMMENTARY.search(lead) for lead in leads):
            return True
        without_key = {lead: _OWN_KEY.sub("", lead) for lead in leads}
        return any(_LOOSE.search(without_key.get(one, one)) for one in words)

    def _is_part(self, found: Mapping[str, Any]) -> bool:
        if any(value in ELLIPSES for value in found.values() if isinstance(value, str)):
            return False
        fields = {SPELLINGS[key] for key, value in found.items() if key in SPELLINGS and value is not None}
        return len(fields) > 1 or any(self._names_tool(found.get(key)) for key in NAMING)

    def _names_tool(self, value: Any) -> bool:
        names = value if isinstance(value, list) else [value]
        return any(isinstance(name, str) and name in self.tools for name in names)


def _quotes(part: Mapping[str, Any], plans: Sequence[Any]) -> bool:
    """Whether an object of the plans has all entries of a part."""
    return any(all(key in found and found[key] == part[key] for key in part) for found in _objects([*plans]))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a JSON value, at any depth."""
    return (part for part in parts_of(value) if isinstance(part, dict))
