"""PDF -> its title and the text of each page. Runs in a child process. Needs the extra `documents`."""

import io
import logging
from typing import Any

from planner_executor.tools.workers.content import bytes_of
from planner_executor.tools.workers.fault import Fault

MOST_BYTES = 30_000_000
MOST_CHARACTERS = 20_000_000
_LONGEST_TITLE = 120


def pages(handle: int) -> dict[str, Any]:
    """Return `{title, pages}`; the title is null if there is none.

    Args:
        handle: The open file.

    Raises:
        Fault: It is broken, locked or too large.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # what is wrong with a file is said in our error
    content = bytes_of(handle, MOST_BYTES)
    try:
        reader = PdfReader(io.BytesIO(content))
        found, left = [], MOST_CHARACTERS
        for page in reader.pages:
            found.append(_clean(page.extract_text()))
            left -= len(found[-1])
            if left < 0:
                raise Fault(f"it holds more than {MOST_CHARACTERS} characters")
        title = reader.metadata.title if reader.metadata else None
    # A damaged file makes the library stumble over what it has read, and not only with errors of its own.
    except (PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        said = " ".join(str(error).split())[:300] or type(error).__name__
        raise Fault(f"broken or locked PDF ({said})") from error
    return {"title": (_clean(str(title)).strip()[:_LONGEST_TITLE] or None) if title else None, "pages": found}


def _clean(text: str) -> str:
    """Drop characters that cannot be recorded: NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").replace("\r", "\n")
