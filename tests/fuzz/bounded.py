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
    max_examples=EXAMPLES or 10,
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


long_texts = st.tuples(
    st.sampled_from(["a", "{", "{a_result", "%25", "9", "[", "<", "(a+)+$", "\n", "\\"]), st.sampled_from([300, 5_000])
).map(lambda made: made[0] * made[1])
odd_texts = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="{}_result[]@|.`'\"$<>#:;,/\\%()*+-?! \n\u2028\u200d", max_size=40),
    long_texts,
    st.sampled_from(["(a+)+$", "\ud800", "\0"]),
)
odd_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), odd_texts, st.sampled_from([10**400, -(2**63), 2**64, 1e308])
)
odd_values = st.one_of(
    st.recursive(
        odd_scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(odd_texts, inner, max_size=3)),
        max_leaves=8,
    ),
    st.sampled_from([90, 150, 240]).map(nested),
)
