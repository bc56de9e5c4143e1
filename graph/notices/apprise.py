"""Notices by mail, Slack, Teams and all else that Apprise knows, sent by a child process (docs/decisions/0081)."""

import asyncio
import json
import sys
from contextlib import suppress

from graph.errors import NoticeError
from graph.notices import apprise_child

TIMEOUT_S = 60.0
REASONS = {
    apprise_child.NO_PACKAGE: "it needs a package: pip install 'planner-executor[notify]'",
    apprise_child.NOT_AN_ADDRESS: "Apprise does not know such an address",
}


async def send(url: str, title: str, body: str) -> None:
    """Send a notice with Apprise.

    Raises:
        NoticeError: It was not sent; the message names no address.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "ignore",
        "-m",
        apprise_child.__name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    given = json.dumps({"url": url, "title": title, "body": body}).encode()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await child.communicate(given)
    except TimeoutError:
        raise NoticeError(f"Apprise did not finish within {TIMEOUT_S:g} s") from None
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode:
        raise NoticeError(REASONS.get(child.returncode, "Apprise could not send it"))
