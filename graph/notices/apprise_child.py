"""A process that sends one notice with Apprise, which loads hundreds of plugins.

It is run as a file, isolated, with further entries of the import path as arguments. It reads an object with `url`,
`title` and `body` from standard input, and ends with 0 if the notice was sent.
"""

import json
import sys

NOT_SENT, NO_PACKAGE, NOT_AN_ADDRESS = 1, 3, 4


def main() -> int:
    """Send the notice; return the exit code."""
    sys.path += sys.argv[1:]
    try:
        import apprise
    except ImportError:
        return NO_PACKAGE
    given = json.load(sys.stdin)
    sender = apprise.Apprise()
    if not sender.add(given["url"]):
        return NOT_AN_ADDRESS
    told = sender.notify(title=given["title"], body=given["body"], body_format=apprise.NotifyFormat.TEXT)
    return 0 if told else NOT_SENT


if __name__ == "__main__":
    sys.exit(main())
