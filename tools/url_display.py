"""Addresses as they may be shown: without passwords, and not without end."""

import re

_LONGEST = 200


def without_passwords(text: str) -> str:
    """Return a text without what stands before the `@` of a URL in it.

    >>> without_passwords("cannot reach socks5://me:secret@proxy.example:1080")
    'cannot reach socks5://…@proxy.example:1080'
    """
    return re.sub(r"//[^/?#]*@", "//…@", text)


def shown_url(url: str) -> str:
    """Return a URL as it may be shown.

    >>> shown_url("https://me:secret@example.org/")
    'https://…@example.org/'
    """
    plain = without_passwords(url)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}…"
