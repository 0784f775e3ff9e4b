"""HTTP requests to the gateway, and their errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import httpx

from ..connection.address import GatewayAddress
from ..connection.websocket import USER_AGENT, tls_context
from ..errors import APIError

TokenSource = Callable[[], Awaitable[str]]


class HTTPClient:
    """A pool of connections to one gateway.

    Args:
        url: `https://host[:port]` or `wss://host[:port]`; the port is 443 by default.
        ca_file: a PEM file with an additional trusted authority.
        timeout: seconds that a request may take.
    """

    def __init__(self, url: str, *, ca_file: str | None = None, timeout: float = 15.0) -> None:
        self._client = httpx.AsyncClient(
            base_url=GatewayAddress.parse(url).http_url,
            verify=tls_context(ca_file),
            timeout=timeout,
            headers={"User-Agent": USER_AGENT},
        )

    async def send(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        body: Any = None,
        query: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> httpx.Response:
        """Sends a request and returns a response with a status of 2xx.

        Raises:
            APIError: the gateway refused it, or cannot be reached.
        """
        headers = {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            response = await self._client.request(method, path, json=body, params=wanted, headers=headers)
        except httpx.TimeoutException as error:
            raise APIError(0, "timeout", f"the gateway did not answer {method} {path} in time; try again") from error
        except httpx.HTTPError as error:
            raise APIError(
                0, "unreachable", f"the gateway cannot be reached: {error!r}; check URL, certificate and that it runs"
            ) from error
        if response.is_success:
            return response
        raise _error(response)

    async def json(self, method: str, path: str, **arguments: Any) -> Any:
        """Sends a request and returns the response's JSON; None without a body."""
        response = await self.send(method, path, **arguments)
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            raise APIError(
                response.status_code, "bad_answer", f"the answer to {method} {path} is no JSON; check the URL"
            ) from error

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


def segment(text: str) -> str:
    """A part of a path, percent-encoded."""
    return quote(text, safe="")


def next_cursor(response: httpx.Response) -> str | None:
    """The cursor of the next page, from the header `Link`."""
    link = response.links.get("next")
    return httpx.URL(link["url"]).params.get("cursor") if link else None


def _error(response: httpx.Response) -> APIError:
    try:
        body = response.json()
        code, message = str(body["code"]), str(body["message"])
    except (ValueError, KeyError, TypeError):
        code = response.headers.get("X-Patchbay-Error", "bad_answer")
        message = "the server answered with an error that is not a gateway's; check the URL"
    try:
        retry_after = float(response.headers["Retry-After"])
    except (KeyError, ValueError):
        retry_after = None
    return APIError(
        response.status_code,
        code,
        message,
        request_id=response.headers.get("X-Request-ID", ""),
        retry_after=retry_after,
    )
