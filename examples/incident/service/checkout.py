"""The checkout service: one WSGI application, run by gunicorn as `service.checkout:application`."""

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from service.delivery import delivers_to, promised_days

log = logging.getLogger("checkout")

PRICES = {"kettle": 3900, "lamp": 5400, "mug": 1200}  # cents


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer `POST /api/checkout` with the order that was placed, `GET /healthz` with `ok`."""
    if environ["PATH_INFO"] == "/healthz":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"ok"]
    request = {"method": environ["REQUEST_METHOD"], "path": environ["PATH_INFO"]}
    order = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    request |= {"request_id": environ["HTTP_X_REQUEST_ID"], "cart": order["cart"], "country": order["country"]}
    if not delivers_to(order["country"]):
        log.warning("country not served", extra=request)
        start_response("422 Unprocessable Entity", [("Content-Type", "application/json")])
        return [b'{"error": "country not served"}']
    try:
        placed = place(order)
    except Exception:  # the last line of defence: whatever happens is logged and answered
        log.exception("unhandled error", extra=request)
        start_response("500 Internal Server Error", [("Content-Type", "application/json")])
        return [b'{"error": "internal"}']
    log.info("order placed", extra=request)
    start_response("201 Created", [("Content-Type", "application/json")])
    return [json.dumps(placed).encode()]


def place(order: dict[str, Any]) -> dict[str, Any]:
    """Return the order with its total and the promise that stands in the confirmation."""
    total = sum(PRICES[item] for item in order["items"])
    return {**order, "total": total, "delivery_days": promised_days(order["country"])}
