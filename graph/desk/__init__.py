"""The review desk: runs of one database on pages in a browser, and the decisions that they wait for."""
