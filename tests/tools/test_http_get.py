import gzip
import json
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from planner_executor.tools.errors import NotConnected, RequestFailed, UrlRefused
from planner_executor.tools.http_get import http_get
from planner_executor.tools.web.allowed_hosts import AllowedHost, AllowList
from planner_executor.tools.web.service import Service

KEY = "sk-1234567890"


@pytest.fixture
def get(site: Any, names: Any) -> BaseTool:
    here = ("127.0.0.1",)
    resolve = names(dict.fromkeys(("page.example", "other.example", "wild.page.example", "localhost"), here))
    hosts = (
        AllowedHost(site.url(""), headers={"X-Api-Key": KEY}),
        AllowedHost(f"http://localhost:{site.port}"),
        AllowedHost(f"http://*.page.example:{site.port}"),
        AllowedHost(f"http://send.example:{site.port}", ("POST",)),
    )
    return http_get(Service(AllowList(hosts), resolve, seconds=5))


def test_json_comes_as_json_and_the_rest_as_text(site: Any, get: BaseTool) -> None:
    site.serve("/json", json.dumps({"a": [1, "ü"]}), Content_Type="application/json", ETag='"one"')
    site.serve("/text", "words", Content_Type="text/plain")
    site.serve("/none", status=204)

    answer = get.invoke({"url": site.url("/json")})

    assert answer == {
        "url": site.url("/json"),
        "status": 200,
        "content_type": "application/json",
        "headers": {"content-length": "20", "etag": '"one"'},
        "body": {"a": [1, "ü"]},
    }
    assert get.invoke({"url": site.url("/text")})["body"] == "words"
    assert get.invoke({"url": site.url("/none")})["body"] == ""


def test_head_asks_for_the_headers_alone(site: Any, get: BaseTool) -> None:
    site.serve("/", "words", Content_Type="text/plain", Last_Modified="Mon, 01 Jan 2024 00:00:00 GMT")

    answer = get.invoke({"url": site.url(), "method": "HEAD"})

    assert site.asked[0][0] == "HEAD"
    assert (answer["headers"]["content-length"], answer["body"]) == ("5", "")


def test_a_key_goes_to_its_host_and_to_no_other(site: Any, get: BaseTool) -> None:
    site.serve("/", status=302, Location=f"http://localhost:{site.port}/there")
    site.serve("/there", "{}", Content_Type="application/json")

    get.invoke({"url": site.url()})

    assert [headers.get("x-api-key") for _, _, headers in site.asked] == [KEY, None]


def test_a_key_that_the_service_repeats_is_hidden(site: Any, get: BaseTool) -> None:
    site.serve("/", json.dumps({"you sent": KEY}), Content_Type="application/json", Link=f"<https://x/?key={KEY}>")
    site.serve("/no", f"wrong key {KEY}", status=401)

    answer = get.invoke({"url": site.url()})
    with pytest.raises(RequestFailed) as failure:
        get.invoke({"url": site.url("/no")})

    assert answer["body"] == {"you sent": "[hidden]"}
    assert KEY not in json.dumps(answer)
    assert (
        failure.value.reason
        == "it answered 401 Unauthorized; it wants a login; use another source; it said: wrong key [hidden]"
    )


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1", "send.example", "page.example.evil.example"])
def test_a_host_that_is_not_allowed_is_not_asked(site: Any, get: BaseTool, host: str) -> None:
    with pytest.raises(UrlRefused):
        get.invoke({"url": site.url(host=host)})

    assert site.asked == []


def test_a_wildcard_does_not_lead_to_this_machine(site: Any, get: BaseTool) -> None:
    with pytest.raises(UrlRefused) as refusal:
        get.invoke({"url": site.url(host="wild.page.example")})

    assert "loopback" in refusal.value.reason
    assert site.asked == []


def test_a_redirect_to_a_host_that_is_not_allowed_is_not_followed(site: Any, get: BaseTool) -> None:
    site.serve("/", status=302, Location=site.url("/there", host="other.example"))

    with pytest.raises(RequestFailed):
        get.invoke({"url": site.url()})

    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"x" * 1_000_001, {"Content_Type": "text/plain"}),
        (gzip.compress(bytes(10_000_000)), {"Content_Type": "text/plain", "Content_Encoding": "gzip"}),
        (b"{", {"Content_Type": "application/json"}),
        (b"[NaN]", {"Content_Type": "application/json"}),
        (b"[1e999]", {"Content_Type": "application/json"}),
        (b'["\\ud800"]', {"Content_Type": "application/json"}),
        (b"[" * 100_000, {"Content_Type": "application/json"}),
        (b"\x89PNG\x00", {"Content_Type": "image/png"}),
    ],
)
def test_a_body_that_cannot_be_returned_whole_is_an_error(
    site: Any, get: BaseTool, body: bytes, headers: dict[str, str]
) -> None:
    site.serve("/", body, **headers)

    with pytest.raises(RequestFailed):
        get.invoke({"url": site.url()})


def test_no_connection_is_an_error_of_its_own(site: Any, names: Any) -> None:
    get = http_get(Service(AllowList((AllowedHost("http://page.example"),)), names({})))

    with pytest.raises(NotConnected):
        get.invoke({"url": "http://page.example/"})


def test_the_hosts_stand_in_the_schema_that_an_approval_covers(get: BaseTool, site: Any) -> None:
    described = get.get_input_jsonschema()["properties"]["url"]["description"]

    assert f"http://page.example:{site.port} (GET, HEAD)" in described
    assert "send.example" not in described
    assert KEY not in json.dumps(get.get_input_jsonschema()) + repr(get)


def test_it_declares_that_reading_twice_is_reading_once(get: BaseTool) -> None:
    declared = get.metadata or {}

    assert (declared["effect"], declared["idempotent"], declared["free_args"]) == ("external", True, ())
