"""Numbers in a sentence."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things; `several` is their name if it is not `one` with an s.

    >>> counted(1, "line"), counted(2, "line"), counted(1, "file was", "files were")
    ('1 line', '2 lines', '1 file was')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"
