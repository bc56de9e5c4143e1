"""The first dictionary of checkpoints, which rows of that kind are read with; nothing is packed with it any more."""

from planner_executor.graph.ledger.channel_versions import channel_versions

REQUEST = (
    b"langgraph.types Interrupt value action_requests name run_plan args plan steps id objective tool args depends_on "
    b"name run_step settle_effect happened result answer_question question answer raise_budget budget spent "
    b"description review_configs action_name allowed_decisions approve edit reject run revision digest diff added "
    b"changed removed answer issues estimate steps tool_calls model_steps longest_chain error id response_schema"
)
MESSAGE = (
    b"\x94\xbalangchain_core.messages.ai\xa9AIMessage\x89\xa7content\xda\x01cYour decision is needed. To reject, write "
    b"a reason; some clients send an empty rejection as an approval.\n\n```text\nRevision 1 of the plan. Approve it, "
    b"edit it, or reject it with a reason to plan again.\nIt only reads.\nTo do: 1 step; at most 1 tool call.\n\n"
    b"\xe2\x97\x8f  "
    b"\n\nDigest: \n```\xb1additional_kwargs\x80\xb1response_metadata\x80\xa4type\xa2ai\xa4name\xa6review\xa2id\xd9>"
    b".1-asks--1f1e6-8001-\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_metadata\xc0\xb3model_validate_json"
    b"\xbdlangchain_core.messages.human\xacHumanMessage\xa5human\xa4name\xc0\xa2id-end"
)
STATE = (
    b"\x87\xa1v\x04\xa2ts\xd9 2026-11-22T00:00:00.000000+00:00\xa2id\xd9$1f1e6-0000-6000-8003-\xaechannel_values\x8e"
    b"\xa4goal\xabconstraints\x90\xa4plan\x81\xa5steps\x91\x84\xa2id\xa9objective\xa4tool\xa4args\x81\xa8messages\x92"
    b"\xa6doubts\x90\xa3run\x84\xa6thread\xa1n\x01\xa2id.1\xa3seq\xa7brought\xa0\xa8revision\x01\xa6digest\xd9@"
    b"\xa6status\xa7waiting\xa7running\xa6failed\xa9succeeded\xa6reason\xc0\xb61 of 1 steps succeeded\xa6issues\x90"
    b"\xa6answer\xc0\xa7results\x81\x85\xa6status\xa9succeeded\xa5value\xa5error\xc0\xaastarted_at\xcbA\xda"
    b"\xa8ended_at\xcbA\xda"
)
KEYS = (
    b"goal constraints plan messages run brought revision digest status reason issues answer results __start__ "
    b"branch:to:planner branch:to:review branch:to:executor doubts"
).split()

UPDATED = b"\x97\xa6answer\xa6doubts\xa8messages\xa6reason\xa7results\xa3run\xa6status"

FIRST = REQUEST + MESSAGE + STATE + channel_versions(KEYS, 18, 16) + UPDATED
