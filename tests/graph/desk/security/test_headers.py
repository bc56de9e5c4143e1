"""Headers that protect a response."""

from starlette.datastructures import MutableHeaders

from planner_executor.graph.desk.security.headers import HEADERS, protect


def test_every_response_gets_every_header_in_place_of_one_that_it_has() -> None:
    headers = MutableHeaders({"x-frame-options": "ALLOWALL", "content-type": "text/html"})

    protect(headers, is_static=False)

    assert {name: headers.getlist(name) for name in HEADERS} == {name: [value] for name, value in HEADERS.items()}
    assert headers["content-type"] == "text/html"


def test_a_browser_keeps_static_files_alone() -> None:
    page, static = MutableHeaders(), MutableHeaders()

    protect(page, is_static=False)
    protect(static, is_static=True)

    assert page["cache-control"] == "no-store" and static["cache-control"] == "public, max-age=86400"
