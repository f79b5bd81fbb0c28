"""Listen for clicks on the buttons of messages, through Slack's Socket Mode: no port of ours is open for it.

Envelopes: https://docs.slack.dev/apis/events-api/using-socket-mode.
"""

import logging
import re
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web import WebClient
from slack_sdk.webhook import WebhookClient

from watcher.channels.click import Click, click_of
from watcher.channels.slack import API, NETWORK, of_answer, of_network
from watcher.errors import ConfigError, UsageError
from watcher.report.richtext import escaped
from watcher.report.text import safe

HOOKS = "https://hooks.slack.com/"
"""Where a click is answered; nowhere else."""
_TIMEOUT = 10
"""Seconds for one question to Slack."""
_LOOK = 0.5
"""Seconds between two looks whether the connection stands."""
_FIRST, _LONGEST = 1.0, 300.0
"""The wait after a first failed try to connect, doubled with each further one, up to the longest."""
_REMEMBERED = 1_000
"""Envelopes that are known when Slack sends them again."""
OnClick = Callable[[str, str, str], str]
"""Takes action, handle and the person's name; returns words for that person alone, if any; so has a UsageError."""


class Buttons:
    """Clicks of the people of one workspace, one after the other.

    `people` are the ids of those who may click, None: everybody. `api` and `hooks` are where Slack's own addresses of
    those names really are.
    """

    def __init__(
        self,
        *,
        token: Callable[[], str],
        app_token: Callable[[], str],
        on_click: OnClick,
        trouble: Callable[[str], None],
        people: Collection[str] | None = None,
        api: str = API,
        hooks: str = HOOKS,
    ) -> None:
        self._token, self._app_token, self._api, self._hooks = token, app_token, api, hooks
        self._on_click, self._trouble, self._people = on_click, trouble, people
        self._team = ""
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._clicks: SimpleQueue[Click | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._connecting = threading.Thread(target=self._stay_connected, name="buttons", daemon=True)
        self._working = threading.Thread(target=self._work, name="clicks", daemon=True)

    def start(self) -> None:
        """Connect, and stay connected, in the background."""
        self._connecting.start()
        self._working.start()

    def stop(self, timeout: float = 4.0) -> None:
        """Take no more clicks, and wait so many seconds at most for those that were acknowledged."""
        end = time.monotonic() + timeout
        self._stopping.set()
        if self._connecting.is_alive():
            self._connecting.join(timeout)
        self._clicks.put(None)
        if self._working.is_alive():
            self._working.join(max(0.0, end - time.monotonic()))

    # --- the connection ----------------------------------------------------------------------------------------------

    def _stay_connected(self) -> None:
        """Open a connection whenever there is none, at ever longer intervals; a trouble is told when it is new."""
        client = _Client(self._address)
        client.socket_mode_request_listeners.append(self._take)
        wait, told = _FIRST, ""
        while not self._stopping.is_set():
            if client.is_connected():
                wait, told = _FIRST, ""
                self._stopping.wait(_LOOK)
                continue
            client.disconnect()
            reason = self._connect(client)
            if reason and reason != told:
                self._trouble(f"the buttons in Slack do not work: {reason}")
            told = reason
            self._stopping.wait(wait)
            wait = min(wait * 2, _LONGEST)
        client.leave()

    def _connect(self, client: "_Client") -> str:
        """Return why there is no connection; nothing where there is one."""
        try:
            self._team = str(self._asking().auth_test(token=self._token()).get("team_id"))
            client.connect_to_new_endpoint()
        except SlackApiError as error:
            return safe(str(of_answer(error.response)))
        except ConfigError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - told, and tried again: a thread that ends here ends the buttons
            return str(of_network(error))
        return "" if client.is_connected() else "Slack's WebSocket could not be reached"

    def _address(self) -> str:
        """Return where to connect: an address for one connection, which is a secret."""
        url = str(self._asking().apps_connections_open(app_token=self._app_token()).get("url"))
        # slack-sdk talks TLS on port 443 alone.
        if self._api.startswith("https://") and not re.match(r"wss://[^/:@]+(:443)?/", url):
            raise ValueError("expected an address of a WebSocket with TLS")
        return url

    def _asking(self) -> WebClient:
        return WebClient(base_url=self._api, timeout=_TIMEOUT, retry_handlers=[])

    # --- clicks ------------------------------------------------------------------------------------------------------

    def _take(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        """Acknowledge an envelope, for which Slack gives three seconds, and leave what it asks for to the worker."""
        if self._stopping.is_set():
            return
        client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
        if request.envelope_id in self._seen:
            return
        self._seen[request.envelope_id] = None
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        if request.type != "interactive":
            return
        if request.payload.get("type") == "block_actions":
            self._queue(request.payload)

    def _queue(self, payload: dict[str, Any]) -> None:
        try:
            click = click_of(payload)
        except ValueError:
            self._trouble("a click in Slack was not understood, and changed nothing")
            return
        if click.teams != {self._team}:
            self._trouble(f"a click in Slack by {click.by} was refused: it came from another workspace")
            return
        self._clicks.put(click)

    def _work(self) -> None:
        """Do what was clicked, one after the other, until told to stop."""
        while (click := self._clicks.get()) is not None:
            if self._people is not None and click.person not in self._people:
                self._trouble(f"a click in Slack by {click.by} was refused: slack.people does not name them")
                self._answer(click, "Nothing changed: you are not among those who may do this here.")
                continue
            try:
                words = self._on_click(click.action, click.handle, click.by)
                if words:
                    self._answer(click, words)
            except UsageError as error:
                self._answer(click, str(error))
            except Exception as error:  # noqa: BLE001 - told, and the next click is another one
                self._trouble(f"a click in Slack by {click.by} failed: {safe(str(error)) or type(error).__name__}")
                self._answer(click, "Nothing changed: something went wrong here. Try again, or ask who runs watcher.")

    def _answer(self, click: Click, words: str) -> None:
        """Tell the person who clicked, and nobody else, what became of it."""
        url = click.answer_to
        start = next((it for it in (HOOKS, self._hooks) if url.startswith(it)), None)
        if start is None:
            return
        client = WebhookClient(self._hooks + url[len(start) :], timeout=_TIMEOUT, retry_handlers=[])
        try:
            client.send(text=escaped(words), response_type="ephemeral", replace_original=False)
        except NETWORK as error:
            self._trouble(f"{click.by} could not be told what became of a click ({type(error).__name__})")


class _Client(SocketModeClient):
    """Slack's client, which asks for an address at each connection and leaves it to us when to connect again."""

    def __init__(self, address: Callable[[], str]) -> None:
        quiet = logging.getLogger("watcher.buttons")  # what it logs holds secrets, and we tell what matters
        quiet.setLevel(logging.CRITICAL)
        super().__init__(app_token="", logger=quiet, auto_reconnect_enabled=False, concurrency=1)
        self._address = address

    def issue_new_wss_url(self) -> str:
        """Return where to connect."""
        return self._address()

    def is_connected(self) -> bool:
        """Answer whether the connection stands: where the other side is gone, slack-sdk notices it 20 seconds later."""
        sock = self.current_session.sock if self.current_session else None
        return sock is not None and not _is_cut(sock)

    def leave(self) -> None:
        """Close the connection; a ping and an empty message wake the threads that wait for one."""
        self.closed = self.current_session_state.terminated = True
        self.enqueue_message("")
        if self.current_session is not None:
            with suppress(OSError):
                self.current_session.ping("leaving")  # an answer without words is waited on
        self.close()


def _is_cut(sock: socket.socket) -> bool:
    """Answer whether the other side ended a connection; nothing is taken from what it sent."""
    try:
        with socket.fromfd(sock.fileno(), sock.family, sock.type) as raw:
            return not raw.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except (OSError, ValueError):
        return True
