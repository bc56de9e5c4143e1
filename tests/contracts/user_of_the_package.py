"""What a user writes: each line with an `error` comment holds one mistake, and no other line any."""

from planner_executor import Agent, AsyncAgent, Person, Run, build_graph


def synchronous() -> Run:
    agent = Agent("runs.db", planner="openai:gpt-5", approval="always", max_steps=20)
    run = agent.start("A goal", constraints=["short"], by=Person("ada"))
    page = agent.list(status="waiting", limit=10)
    agent.list(status="wating")  # error
    agent.resume(run.id, run.decide(approve=True), unsen=True)  # error
    agent.resume(page[0].id, run.decide(aprove=True))  # error
    plan = {"steps": [{"id": "a", "tool": "pay", "args": {"amount": 3.5}, "depends_on": []}]}
    found = {"rows": [{"city": "Oslo", "people": [1, 2]}]}
    agent.start("A goal", plan=plan, params=found)
    agent.edit(run.id, [*plan["steps"]])
    agent.fork(agent.supply(run.id, "a", found).id, "a", values=found)
    return agent.retry(run.id, limits={"tool_calls": 20}, plan=plan)


async def asynchronous() -> Run:
    async with AsyncAgent("runs.db", approval="sometimes") as agent:  # error
        return await agent.show("run")


graph = build_graph("openai:gpt-5", max_steps="ten")  # error
