"""What the fuzz tests share: how many examples, and a bound of processor time for each of them."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
"""`make fuzz` sets it; without it a few examples are tried, always the same ones."""
MOST_S = 5.0
"""Of processor time for one input, on a slow machine that does other things besides."""

fuzzed = settings(
    max_examples=EXAMPLES or 25,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def in_time() -> Iterator[None]:
    """Check that what is done in this block takes no more than its bound."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < MOST_S


def nested(levels: int) -> Any:
    """Return a list in a list, so many times."""
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


odd_texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="{}_result[]@|.`'\"$<>#:;,/\\%()*+-?! \n\u2028\u200d", max_size=60),
    st.sampled_from(
        ["a" * 50_000, "{" * 5_000, "{a_result" * 300, "(a+)+$", "%25" * 3_000, "9" * 6_000, "\ud800", "\0"]
    ),
)
odd_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), odd_texts, st.sampled_from([10**400, -(2**63), 2**64, 1e308])
)
odd_values = st.one_of(
    st.recursive(
        odd_scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(odd_texts, inner, max_size=5)),
        max_leaves=15,
    ),
    st.sampled_from([90, 150, 3_000, 50_000]).map(nested),
)
