"""The runs of a ledger: finding, listing, reading and changing them without a graph."""
