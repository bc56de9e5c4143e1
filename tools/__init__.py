"""The agent's own tools, and what tools of others declare. Public names are those of `planner_executor`."""

if __name__ != "planner_executor.tools":
    raise ImportError("import planner_executor.tools; under the name tools its classes would be there twice")
