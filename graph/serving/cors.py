"""CORS headers for allowed origins; the guard has already refused all others."""

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from planner_executor.graph.serving.access import Access

EXPOSED = ("content-location", "x-pagination-next", "x-pagination-total")


class Cors(CORSMiddleware):
    """CORS middleware for the origins of `Access`, without cookies."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        every = ["*"]
        super().__init__(
            app, allow_methods=every, allow_headers=every, expose_headers=EXPOSED, allow_private_network=True
        )
        self._access = access

    def is_allowed_origin(self, origin: str) -> bool:
        """Whether pages of an origin may read responses."""
        return self._access.allows_origin(origin)
