"""What a user writes: each line with an `error` comment holds one mistake, and no other line any."""

from planner_executor import Agent, AsyncAgent, Person, Run, build_graph


def synchronous() -> Run:
    agent = Agent("runs.db", planner="openai:gpt-5", approval="always", max_steps=20)
    run = agent.start("A goal", constraints=["short"], by=Person("ada"))
    page = agent.list(status="waiting", limit=10)
    agent.list(status="wating")  # error
    agent.resume(run.id, run.decide(approve=True), unsen=True)  # error
    agent.resume(page.runs[0].id, run.decide(aprove=True))  # error
    return agent.retry(run.id, limits={"tool_calls": 20})


async def asynchronous() -> Run:
    async with AsyncAgent("runs.db", approval="sometimes") as agent:  # error
        return await agent.show("run")


graph = build_graph("openai:gpt-5", max_steps="ten")  # error
