"""Workers: any number of processes that continue the runs nobody owns, each run once (decision 0065)."""
