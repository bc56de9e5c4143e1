"""URLs and long arguments for display: without passwords, and of bounded length."""

import re

_LONGEST = 200


def strip_passwords(text: str) -> str:
    """Return a text with the user information of each URL in it replaced.

    >>> strip_passwords("cannot reach socks5://me:secret@proxy.example:1080")
    'cannot reach socks5://…@proxy.example:1080'
    """
    return re.sub(r"//[^/?#]*@", "//…@", text)


def display_url(url: str) -> str:
    """Return a URL without its password, cut to 200 characters.

    >>> display_url("https://me:secret@example.org/")
    'https://…@example.org/'
    """
    return shortened(strip_passwords(url))


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return a text, cut to its first characters if it is longer.

    >>> shortened("SELECT *", most=6)
    'SELECT…'
    """
    return text if len(text) <= most else f"{text[:most]}…"
