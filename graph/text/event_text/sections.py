"""The sections of an audit, and the text of an event before it is made safe to show."""

from collections.abc import Iterator
from typing import Literal, get_args

Section = Literal["run", "plans", "steps", "decisions", "policy", "budget"]
SECTIONS: tuple[Section, ...] = get_args(Section)

Words = Iterator[str]
"""A sentence, followed by lines of detail."""

Formatted = tuple[tuple[Section, ...], Words]
"""The sections of the audit that an event belongs to, and its text."""
