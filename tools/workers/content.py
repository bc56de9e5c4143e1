"""What a file holds that was opened by the parent. Runs in a child process."""

import os

from planner_executor.tools.files.text import Decoded, decode
from planner_executor.tools.workers.fault import Fault


def bytes_of(handle: int, most_bytes: int) -> bytes:
    """Return what an open file holds, and close it.

    Raises:
        Fault: It is too large.
    """
    with os.fdopen(handle, "rb") as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise Fault(f"the file is larger than {most_bytes // 10**6} MB")
    return content


def text_of(handle: int, most_bytes: int) -> Decoded:
    """Return the whole text of an open file.

    Raises:
        Fault: It is too large, or not text.
    """
    decoded = decode(bytes_of(handle, most_bytes))
    if decoded is None:
        raise Fault("the file is not text")
    return decoded
