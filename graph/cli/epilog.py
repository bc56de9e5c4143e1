"""The end of every help screen: what the exit codes say."""

EPILOG = (
    "Exit codes: 0 succeeded; 1 the run ended otherwise; 2 wrong usage or configuration; "
    "3 waiting for a decision; 4 the database cannot be used, or the output cannot be written; "
    "130 interrupted by Ctrl-C or SIGTERM."
)
