"""Headers of every response: nothing from other hosts, no inline script or style, no frames (decision 77)."""

from starlette.datastructures import MutableHeaders

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def protect(headers: MutableHeaders, is_static: bool) -> None:
    """Add the headers; only static files, whose names hold their version or digest, may be kept by a browser."""
    for name, value in HEADERS.items():
        headers[name] = value
    headers["Cache-Control"] = "public, max-age=86400" if is_static else "no-store"
