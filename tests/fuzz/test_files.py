"""Policies, logs and exported runs from anywhere: read, or refused by an error of our own, in time."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from bounded import fuzzed, in_time, odd_texts, odd_values
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import AgentError, ExportError, PolicyError
from planner_executor.graph.ledger.chain import Row, first_link, link, payload_digest
from planner_executor.graph.ledger.export import from_bytes, to_bytes
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.policy.policy_file import policy_from, policy_from_toml
from planner_executor.graph.replay.record_loading import replayed_file
from planner_executor.graph.runs.record_service import verified_file
from planner_executor.incident_tools.logs.selection import Wanted, in_order, read_log
from planner_executor.tools.errors import SourceNotReadable

constraints = st.dictionaries(
    st.sampled_from(
        ["domains", "within", "minimum", "maximum", "one_of", "pattern", "untrusted_from", "optional", "x"]
    ),
    st.one_of(
        odd_values,
        st.lists(st.sampled_from(["example.com", "out", "a"]), min_size=1, max_size=2),
        st.sampled_from(["(a+)+$", "(?=a)", "a{1000}{1000}", "[", 1, True]),
    ),
    max_size=3,
)
rules = st.fixed_dictionaries({"send": st.fixed_dictionaries({"args": st.fixed_dictionaries({"to": constraints})})})
parts = ("approval", "effects", "limits", "rates", "prices")
policies = st.one_of(
    st.fixed_dictionaries({}, optional={"tools": st.one_of(rules, odd_values), **dict.fromkeys(parts, odd_values)}),
    odd_values,
)
SEND = ToolSpec("send", "d", {"type": "object", "properties": {"to": {"default": "x"}}})


@fuzzed
@given(policies, odd_values)
def test_a_policy_is_read_or_refused_and_judges_any_value(raw: Any, value: Any) -> None:
    with in_time():
        try:
            policy = policy_from(raw) if isinstance(raw, dict) else policy_from_toml(str(raw)[:10_000])
        except PolicyError as error:
            assert str(error)
            return
        if not json_faults(value):
            assert isinstance(policy.faults(SEND, {"to": value}), list)
        assert policy.faults(SEND, {}) is not None and policy.digest


@fuzzed
@given(st.one_of(odd_texts, st.integers(1, 20_000).map(lambda levels: f"a = {'[' * levels}{']' * levels}")))
def test_a_text_is_a_policy_or_is_refused(text: str) -> None:
    with in_time():
        try:
            policy_from_toml(text)
        except PolicyError as error:
            assert str(error)


lines = st.one_of(
    st.binary(max_size=200),
    odd_texts.map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from([
        b'{"time":"2026-01-01T00:00:00Z","level":"error","message":"x"}',
        b'127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 500 1 "-" "-"',
        b"__REALTIME_TIMESTAMP=99999999999999999999", b"MESSAGE", b"PRIORITY=3", b"2026-01-01 00:00:00 ERROR x",
        b'{"time":1e999}', b"\x1f\x8b\x08", b'{"ts":1e300}',
        b"[99/Foo/9999:99:99:99 +9999]", b'{"level":{"a":[]},"time":[],"message":{}}', b"9999-99-99T99:99:99Z x",
    ]),
)  # fmt: skip


@fuzzed
@given(st.lists(lines, max_size=8), st.sampled_from([b"\n", b"\r\n", b""]))
def test_a_log_is_read_or_is_none(tmp_path_factory: Any, some: list[bytes], end: bytes) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "fuzzed.log"
    file.write_bytes(end.join(some))

    with in_time():
        try:
            reading = read_log("a.log", file, Wanted())
        except SourceNotReadable as error:
            assert error.reason
            return
        json.dumps([*in_order([reading], 50), reading.to_json()])


KINDS = (
    "run_started", "plan_revised", "review_requested", "decided", "call_started", "call_finished", "model_started",
    "model_finished", "run_ended", "redacted", "step_held", "budget_reached", "steered", "result_set", "unknown",
)  # fmt: skip
payloads = st.one_of(
    st.dictionaries(
        st.sampled_from([
            "goal", "plan", "revision", "digest", "key", "tool", "args", "status", "left", "by", "value", "artifact",
            "settings", "configured", "actions", "decisions", "usage", "constraints", "state", "version", "author",
        ]),
        odd_values.filter(lambda value: not json_faults(value)),
        max_size=6,
    ).map(lambda found: json.dumps(found, ensure_ascii=False)),
    st.just(5_000).map(lambda levels: "[" * levels + "]" * levels),
    st.sampled_from(['{"a":[]}', '{"n":1e999999}', '{"n":' + "9" * 6_000 + "}", "null", "[]"]),
)  # fmt: skip
steps = st.one_of(st.none(), st.sampled_from(["a", "b"]))
moments = st.sampled_from([0.0, 1.7e9, -1e300, 1e308])


def transcript(events: list[tuple[str, str | None, float, str]]) -> Transcript:
    """Return a record whose chain is whole, whatever its events say: anybody can write one."""
    rows: list[Row] = []
    before = first_link("t.1")
    for seq, (kind, step, at, payload) in enumerate(events, 1):
        proof = payload_digest(b"s" * 16, payload)
        before = link(before, seq, kind, step, at, proof)
        rows.append(Row(seq, kind, step, at, payload, b"s" * 16, proof, before))
    return Transcript("t", 1, rows, len(rows))


events = st.lists(st.tuples(st.sampled_from(KINDS), steps, moments, payloads), max_size=5)


@fuzzed
@given(events)
async def test_an_exported_run_of_any_content_is_verified_and_replayed_or_refused(
    tmp_path_factory: Any, told: Any
) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "fuzzed.jsonl"
    file.write_bytes(to_bytes(transcript(told)))

    with in_time():
        assert verified_file(file).run == "t.1"
        try:
            await replayed_file(file)
        except AgentError as error:
            assert str(error)


@fuzzed
@given(events, st.integers(0, 10_000), st.binary(max_size=20), st.booleans())
def test_a_file_that_was_changed_anywhere_is_refused_or_found_out(
    told: Any, at: int, more: bytes, is_end: bool
) -> None:
    content = to_bytes(transcript(told))
    place = at % len(content)
    changed = content[:place] + more + (b"" if is_end else content[place + 1 :])

    with in_time():
        try:
            found = verify(from_bytes(changed, "file"))
        except ExportError as error:
            assert error.line
            return
        assert json.dumps(found.to_json())


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"record":"run","n":1e999999}',
        b'{"record":"event","seq":' + b"9" * 6_000 + b"}",
        b"{}",
        b"\xff",
    ],
)
def test_lines_that_no_parser_likes_are_named(line: bytes) -> None:
    end = sha256(line + b"\n").hexdigest()
    content = line + b'\n{"record":"end","sha256":"' + end.encode() + b'"}\n'

    with in_time(), pytest.raises(ExportError) as caught:
        from_bytes(content, "file")

    assert caught.value.line == 1
