"""The rules on people that those who decided met, tool by tool."""

from collections.abc import Mapping
from typing import Any

Met = Mapping[str, tuple[Mapping[str, Any], ...]]
"""Tool -> the rules on people, as JSON, that those who decided met for its calls."""
