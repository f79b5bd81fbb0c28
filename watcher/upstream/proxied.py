"""Send requests through a client of httpx, which knows the proxies of the environment and their exceptions."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from watcher.address import is_literal, is_public
from watcher.upstream.reaching import private
from watcher.upstream.request import Answer, Broken, Late, Private, Question, TooLarge, Unconnected


@asynccontextmanager
async def proxied(context: ssl.SSLContext) -> AsyncIterator["Client"]:
    """Give what sends requests one after the other, over one connection."""
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    async with httpx.AsyncClient(verify=context, limits=limits) as client:
        yield Client(client)


@dataclass(frozen=True, slots=True)
class Client:
    """Send through a client of httpx."""

    client: httpx.AsyncClient

    async def send(self, question: Question) -> Answer:
        """Return the answer; raise a Failure."""
        host = question.url.host.strip("[]")
        # What a name stands for is the proxy's business.
        if not question.is_private and is_literal(host) and not is_public(host):
            raise Private(private(host, host))
        try:
            return await self._sent(question)
        except httpx.TimeoutException as error:
            raise Late from error
        except httpx.ConnectError as error:
            raise Unconnected(str(error)) from error
        except httpx.HTTPError as error:
            raise Broken(str(error) or type(error).__name__) from error

    async def _sent(self, question: Question) -> Answer:
        method = "GET" if question.body is None else "POST"
        url = str(question.url)
        request = self.client.build_request(method, url, headers=question.headers, content=question.body)
        response = await self.client.send(request, stream=True, follow_redirects=False)
        content = bytearray()
        try:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > question.largest:
                    raise TooLarge
        finally:
            await response.aclose()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(status=response.status_code, headers=headers, body=bytes(content))
