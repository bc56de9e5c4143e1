"""Playbooks: the list, a page for each with its versions and runs, and the form that starts it."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import Form, changes, desk_of, go_to, page, run_link, shows, visitor_of
from planner_executor.graph.desk.pages.start import started
from planner_executor.graph.desk.threads import on_thread
from planner_executor.graph.desk.views.edit_faults import FormFault
from planner_executor.graph.desk.views.schema_form import FormField, faults_in, fields_of, value_in
from planner_executor.graph.errors import InputError
from planner_executor.graph.playbooks.folder import Found, found_in, named
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.runs.playbooks import named_in
from planner_executor.graph.text.event_text.values import changed_playbook

PARAM = "param:"
"""Beginning of the name of a field with the value of a parameter."""
MOST_RUNS = 20
NO_FOLDER = 'the settings name no folder of playbooks; write playbooks = "playbooks" into them'
CHANGED = "the playbook has changed since this page was shown: look at it again"


@dataclass(frozen=True)
class ShownPlaybook:
    """The latest version of a playbook, all files of its name, and why it cannot be started, empty if it can."""

    playbook: Playbook
    files: Sequence[Found]
    why_not: str

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its parameters."""
        parameters = self.playbook.parameters
        required = [name for name, schema in parameters.items() if "default" not in schema]
        return {"type": "object", "properties": dict(parameters), "required": required}

    @property
    def fields(self) -> list[FormField]:
        """The fields of its parameters; a playbook without any has none."""
        return fields_of(self.schema) if self.playbook.parameters else []


@shows
async def playbooks(request: Request) -> Response:
    """List the playbooks of the folder, the latest version of each."""
    folder = await _folder(request)
    found = await on_thread(lambda: found_in(folder)) if folder is not None else []
    known: dict[str, Found] = {}
    # In the order of versions, so the latest one of a name stays; a file with a fault stands under its fault.
    for one in sorted(found, key=lambda one: one.playbook.version if one.playbook is not None else 0):
        known[one.playbook.name if one.playbook is not None else one.fault] = one
    return page(
        request,
        "playbooks.html",
        rows=[known[name] for name in sorted(known)],
        missing="" if folder is not None else NO_FOLDER,
    )


@shows
async def playbook(request: Request) -> Response:
    """Show a playbook, with the form that starts it."""
    return await _page(request, await _shown(request))


@changes
async def start(request: Request, form: Form) -> Response:
    """Start the playbook that the page showed; values that do not fit start nothing, and are named by their fields."""
    shown = await _shown(request)
    # By digest, since a file can change without a new version.
    if shown.why_not or form.get("digest") != shown.playbook.digest:
        return await _page(request, shown, form, shown.why_not or CHANGED, 422)
    values = value_in(shown.fields, {}, form.after(PARAM))
    found = faults_in(shown.schema, values, shown.fields)
    faults = [
        FormFault("", PARAM + field.name, field.label, why) if field is not None else FormFault("", "", "values", why)
        for field, why in found
    ]
    if faults:
        return await _page(request, shown, form, "", 422, faults)
    try:
        return go_to(run_link(request, "", await _begun(request, shown.playbook, values)))
    except InputError as error:
        return await _page(request, shown, form, str(error), 422)


async def _begun(request: Request, chosen: Playbook, values: Mapping[str, JsonValue]) -> str:
    thread, by = secrets.token_hex(4), visitor_of(request).person
    return await started(
        request,
        thread,
        lambda opened: opened.agent.start(playbook=chosen, params=values, thread=thread, setup=opened.setup, by=by),
    )


async def _page(
    request: Request,
    shown: ShownPlaybook,
    form: Form | None = None,
    wrong: str = "",
    status: int = 200,
    faults: Sequence[FormFault] = (),
) -> Response:
    runs = (await desk_of(request).records()).runs
    return page(
        request,
        "playbook.html",
        status,
        shown=shown,
        given=dict(form.fields) if form is not None else {},
        wrong=wrong,
        faults={"": faults} if faults else {},
        changed=changed_playbook(await named_in(runs, shown.playbook)),
        found=await runs.page(RunFilter(tag=shown.playbook.name, limit=MOST_RUNS)),
    )


async def _shown(request: Request) -> ShownPlaybook:
    """Return the playbook that an address names, as it is now.

    Raises:
        InputError: There is no folder, or no playbook of this name in it.
    """
    folder, name = await _folder(request), request.query_params.get("name", "")
    if folder is None:
        raise InputError("playbooks", NO_FOLDER)

    def read() -> ShownPlaybook:
        files = [one for one in found_in(folder) if one.playbook is not None and one.playbook.name == name]
        # Also one that cannot be started is shown, beside the reason.
        latest = named(name, folder, trusted=False)
        try:
            return ShownPlaybook(named(name, folder), files, "")
        except InputError as error:
            return ShownPlaybook(latest, files, str(error))

    return await on_thread(read)


async def _folder(request: Request) -> Path | None:
    folder = desk_of(request).playbooks
    return await on_thread(folder) if folder is not None else None
