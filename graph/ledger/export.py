"""A run's record as one file of JSON lines, which can be verified without the database.

The first line names the run, one line follows per event and per artifact, and the last line holds the SHA-256 of all
bytes before it. Each line has one canonical encoding: compact JSON, keys in the order below, minimal escapes. Bytes are
hexadecimal digits; `payload` is the text that the chain covers.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from planner_executor.graph.errors import ExportError
from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.chaining import compact_json
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.words.tables import ClosedTable

Hex = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{2})*$")]


class _Line(ClosedTable, strict=True):
    """A line of the file."""


class RunLine(_Line):
    """The run, how many events it has, the hash of the last one, and its seal."""

    record: Literal["run"] = "run"
    format: Literal[1] = 1
    thread: str
    n: int
    events: int
    head: Hex
    key: str | None
    seal: Hex | None


class EventLine(_Line):
    """An event as stored; an empty `salt` marks a redacted payload."""

    record: Literal["event"] = "event"
    seq: int
    kind: str
    step: str | None
    at: FiniteFloat
    payload: str
    salt: Hex
    digest: Hex
    link: Hex


class ArtifactLine(_Line):
    """An artifact that an event names; `id` is the SHA-256 of `content`."""

    record: Literal["artifact"] = "artifact"
    id: str
    content: str


class EndLine(_Line):
    """The SHA-256 of all bytes before this line: it detects accidents, not forgeries."""

    record: Literal["end"] = "end"
    sha256: Hex


Line = RunLine | EventLine | ArtifactLine | EndLine
_lines: TypeAdapter[Line] = TypeAdapter(
    Annotated[Line, Field(discriminator="record")], config=ConfigDict(defer_build=True)
)


def to_bytes(transcript: Transcript) -> bytes:
    """Return the file's content."""
    body = b"".join(map(_encode, _lines_of(transcript)))
    return body + _encode(EndLine(sha256=sha256(body).hexdigest()))


def from_bytes(content: bytes, name: str) -> Transcript:
    """Parse a file's content; `name` is its name in messages.

    Raises:
        ExportError: The file is not an export, or a line is not canonically encoded.
    """
    # What stands behind the last line end is refused below: no byte of a file goes unread.
    parsed = [_parse(line, name, number) for number, line in enumerate(content.split(b"\n")[:-1], 1)]
    if len(parsed) < 2 or not content.endswith(b"\n") or not isinstance(parsed[-1], EndLine):
        raise ExportError(name, max(len(parsed), 1), "the end of the file is missing")
    run, *lines = parsed[:-1]
    if not isinstance(run, RunLine):
        raise ExportError(name, 1, "the beginning of the file is missing")
    rows, artifacts = [], {}
    for number, line in enumerate(lines, 2):
        if isinstance(line, EventLine):
            rows.append(_row(line))
        elif isinstance(line, ArtifactLine):
            artifacts[line.id] = line.content
        else:
            raise ExportError(name, number, "does not belong there")
    seal = bytes.fromhex(run.seal) if run.seal is not None else None
    return Transcript(run.thread, run.n, rows, run.events, run.key, seal, artifacts)


def export_faults(content: bytes) -> list[str]:
    """Return the faults of the file itself; those of the record in it are found by `verify`."""
    body, _, end = content[:-1].rpartition(b"\n")
    if json.loads(end)["sha256"] == sha256(body + b"\n").hexdigest():
        return []
    return ["the file is not the one that was exported: its checksum does not fit"]


def _lines_of(transcript: Transcript) -> Iterator[Line]:
    head, seal = transcript.head.hex(), transcript.seal.hex() if transcript.seal is not None else None
    written, key = transcript.written, transcript.key
    yield RunLine(thread=transcript.thread, n=transcript.n, events=written, head=head, key=key, seal=seal)
    for row in transcript.rows:
        proof = {name: getattr(row, name).hex() for name in ("salt", "digest", "link")}
        yield EventLine(seq=row.seq, kind=row.kind, step=row.step, at=row.at, payload=row.payload, **proof)
    for name, content in transcript.artifacts.items():
        yield ArtifactLine(id=name, content=content)


def _encode(line: Line) -> bytes:
    return f"{compact_json(dict(line))}\n".encode()


def _parse(text: bytes, name: str, number: int) -> Line:
    """Parse a line; one that is not canonically encoded is refused."""
    try:
        line = _lines.validate_python(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        raise ExportError(name, number, "is not a line of an exported run") from None
    # One record has one file: nothing can be hidden in spaces, in repeated keys or in another spelling of a number.
    if _encode(line) != text + b"\n":
        raise ExportError(name, number, "is not as it was written")
    return line


def _row(line: EventLine) -> Row:
    proof = (bytes.fromhex(part) for part in (line.salt, line.digest, line.link))
    return Row(line.seq, line.kind, line.step, line.at, line.payload, *proof)
