"""The agent: what plans, decides, executes, records and shows. Public names are those of `planner_executor`."""

if __name__ != "planner_executor.graph":
    raise ImportError("import planner_executor.graph; under the name graph its classes would be there twice")
