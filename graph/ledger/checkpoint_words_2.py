"""The second dictionary of checkpoints: a request and a state as LangGraph stores them, without what differs.

It is that of a run of one step that a person approved, since small runs gain most. A later one needs a name of its own.
"""

from planner_executor.graph.ledger.channel_versions import channel_versions, name, version

REQUEST = (
    b"\x91\xc8\x03\xfe\x02\x93\xaflanggraph.types\xa9Interrupt\x83\xa5value\x89\xafaction_requests\x91\x83\xa4name"
    b"\xa8run_plan\xa4args\x81\xa4plan\x81\xa5steps\x91\x84\xa2id\xa1a\xa9objective\xa4look\xa4tool\xa4look\xa4arg"
    b"s\x83\xa4step\xa1a\xa7seconds\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xa5given\x90\xabdescription\xda\x02\x05Thi"
    b"s is revision 1 of the plan. Every plan is shown before it runs.\n\nThe goal: ``\n\nIf you approve it, 1 ste"
    b"p runs, which only reads: nothing is changed. Edit it, reject it with a reason to have it planned again, or "
    b"reject it without one to end the run.\n\nNo step has success criteria: a step succeeds if its work ends with"
    b'out an error.\n\n```plan\n\xe2\x97\x8f  a  look  look step="a" seconds=0.0 given=[]\n```\n\nTo do: 1 step;'
    b" at most 1 tool call.\n\nDigest: \xaereview_configs\x91\x82\xabaction_name\xa8run_plan\xb1allowed_decisions"
    b"\x93\xa7approve\xa4edit\xa6reject\xa3run\xa410.1\xa8revision\x01\xa6digest\xd9@\xa4diff\x84\xa5added\x91\xa1"
    b"a\xa7changed\x90\xa7removed\x90\xa6answer\xc2\xa6issues\x90\xa8estimate\x84\xa5steps\x01\xaatool_calls\x01"
    b"\xabmodel_steps\x00\xadlongest_chain\x01\xa5error\xc0\xa2id\xd9 \xafresponse_schema\xc0"
)
BEFORE = (
    b"\x87\xa1v\x04\xa2ts\xd9 +00:00\xa2id\xd9$\xaechannel_values\xde\x00\x11\xa4goal\xaa\xabconstraints\x90\xa4pl"
    b"an\x81\xa5steps\x91\x84\xa2id\xa1a\xa9objective\xa4look\xa4tool\xa4look\xa4args\x83\xa4step\xa1a\xa7seconds"
    b"\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xa5given\x90\xa3run\x84\xa6thread\xa210\xa1n\x01\xa2id\xa410.1\xa3seq\n"
    b"\xa8messages\x94"
)
MESSAGES = (
    b"\xc7\x98\x05\x94\xbdlangchain_core.messages.human\xacHumanMessage\x86\xa7content\xaa\xb1additional_kwargs"
    b"\x80\xb1response_metadata\x80\xa4type\xa5human\xa4name\xc0\xa2id\xa910.1-goal\xb3model_validate_json\xc8\x03"
    b"\xfa\x05\x94\xbalangchain_core.messages.ai\xa9AIMessage\x89\xa7content\xda\x03\x06Your decision is needed.\n"
    b"\nThis is revision 1 of the plan. Every plan is shown before it runs.\n\nThe goal: ``\n\nIf you approve it, "
    b"1 step runs, which only reads: nothing is changed. Edit it, reject it with a reason to have it planned again"
    b", or reject it without one to end the run.\n\nNo step has success criteria: a step succeeds if its work ends"
    b' without an error.\n\n```plan\n\xe2\x97\x8f  a  look  look step="a" seconds=0.0 given=[]\n```\n\nTo do: 1 '
    b"step; at most 1 tool call.\n\nDigest: \n\nDecide with the buttons of this chat or, if it has none, with `pla"
    b"nner-executor resume 10.1`. A message here decides nothing: it is a new goal.\n\nTo reject, write a reason: "
    b"some chat clients send an empty rejection as an approval.\xb1additional_kwargs\x80\xb1response_metadata\x80"
    b"\xa4type\xa2ai\xa4name\xa6review\xa2id\xd9?10.1-asks--\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_"
    b"metadata\xc0\xb3model_validate_json\xc7\xef\x05\x94\xbalangchain_core.messages.ai\xa9AIMessage\x89\xa7conten"
    b"t\xd9.Approved by `os:root`: revision 1 of the plan.\xb1additional_kwargs\x80\xb1response_metadata\x80\xa4ty"
    b"pe\xa2ai\xa4name\xa6review\xa2id\xae10.1-decided-1\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_meta"
    b"data\xc0\xb3model_validate_json\xc7\xce\x05\x94\xbalangchain_core.messages.ai\xa9AIMessage\x89\xa7content"
    b"\xba- **step:** a\n- **text:** \xb1additional_kwargs\x80\xb1response_metadata\x80\xa4type\xa2ai\xa4name\xc0"
    b"\xa2id\xa810.1-end\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_metadata\xc0\xb3model_validate_json"
)
AFTER = (
    b"\xa5route\xa3end\xa6doubts\x90\xa5proof\xd9@\xa7brought\xa0\xa8revision\x01\xa6digest\xd9@\xa6status\xa9succ"
    b"eeded\xa6reason\xb61 of 1 steps succeeded\xa6issues\x90\xa6answer\x82\xa4step\xa1a\xa4text\xa0\xa7results"
    b"\x81\xa1a\x85\xa6status\xa9succeeded\xa5value\x82\xa4step\xa1a\xa4text\xa0\xa5error\xc0\xaastarted_at\xcbA"
    b"\xda\xa8ended_at\xcbA\xda\xa5todos\x91\x82\xa7content\xa7a: look\xa6status\xa9completed"
)
KEYS = (
    b"goal branch:to:planner run route status todos constraints revision digest results reason issues answer plan "
    b"messages brought branch:to:review doubts branch:to:executor proof"
).split()

UPDATED = (
    b"answer constraints digest doubts goal issues messages plan proof reason results revision route run status todos"
).split()
VERSIONS = channel_versions(KEYS, 21, 18, version(b"__start__", b"2")) + b"\xdc\x00\x10" + b"".join(map(name, UPDATED))

SECOND = REQUEST + BEFORE + MESSAGES + AFTER + VERSIONS
