"""Why a file cannot be read and what to do then, in a few words."""


def unreadable(error: Exception, advice: str = "") -> str:
    """Return the reason of an error and the next move, without the name of the file, which the sentence around has.

    >>> unreadable(FileNotFoundError(2, "No such file or directory", "/srv/rules.toml"))
    'No such file or directory; name one that is there'
    >>> unreadable(IsADirectoryError(21, "Is a directory", "/srv"))
    'Is a directory; name a file'
    >>> unreadable(UnicodeDecodeError("utf-8", bytes([99, 97, 102, 233]), 3, 4, "unexpected end of data"))
    'byte 3 is not UTF-8 text; save it as UTF-8'
    >>> unreadable(PermissionError(13, "Permission denied"), "name another folder")
    'Permission denied; name another folder'
    """
    match error:
        case UnicodeDecodeError():
            reason, usual = f"byte {error.start} is not UTF-8 text", "save it as UTF-8"
        case FileNotFoundError():
            reason, usual = error.strerror or str(error), "name one that is there"
        case IsADirectoryError():
            reason, usual = error.strerror or str(error), "name a file"
        case _:
            reason, usual = (error.strerror if isinstance(error, OSError) else None) or str(error), ""
    move = advice or usual
    return f"{reason}; {move}" if move else reason
