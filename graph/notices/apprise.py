"""Notices by mail, Slack, Teams and all else that Apprise knows, sent by a child process (docs/decisions/0081)."""

import asyncio
import json
from contextlib import suppress

from planner_executor.graph.errors import NoticeError
from planner_executor.graph.notices import apprise_child
from planner_executor.tools.workers.isolated import FOLDER, environment, import_path, python_command

TIMEOUT_S = 60.0
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
KEPT = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *PROXIES,
    *map(str.upper, PROXIES),
)
"""Variables that decide how a server is reached; the process gets no others of ours, and so no key."""
REASONS = {
    apprise_child.NO_PACKAGE: "it needs a package: pip install '.[notify]' in the folder of planner-executor",
    apprise_child.NOT_AN_ADDRESS: "Apprise does not know such an address",
}


async def send(url: str, title: str, body: str) -> None:
    """Send a notice with Apprise.

    Raises:
        NoticeError: It was not sent; the message names no address.
    """
    child = await asyncio.create_subprocess_exec(
        *python_command("-W", "ignore", apprise_child.__file__, *import_path()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(KEPT),
        cwd=FOLDER,
    )
    given = json.dumps({"url": url, "title": title, "body": body}).encode()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await child.communicate(given)
    except TimeoutError:
        raise NoticeError(f"Apprise did not finish within {TIMEOUT_S:g} s") from None
    finally:
        # Also when this task is cancelled: the child has the address, and nobody waits for it any more.
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode:
        raise NoticeError(REASONS.get(child.returncode, "Apprise could not send it"))
