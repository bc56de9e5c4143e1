"""Why a file cannot be read, in a few words."""


def unreadable(error: Exception) -> str:
    """Return the reason of an error without the name of the file, which the sentence around it has.

    >>> unreadable(FileNotFoundError(2, "No such file or directory", "/srv/rules.toml"))
    'No such file or directory'
    >>> unreadable(UnicodeDecodeError("utf-8", bytes([99, 97, 102, 233]), 3, 4, "unexpected end of data"))
    'byte 3 is not UTF-8 text'
    """
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
