"""A small Slack on loopback: takes messages of bots and webhooks, keeps them, refuses what the real one would.

Its WebSocket sends clicks on the buttons of messages that it has. What it answers can be scripted.
"""

import json
import textwrap
import threading
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from queue import Queue
from socket import SHUT_RDWR
from typing import Self
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft7Validator
from jsonschema.exceptions import best_match
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

TOKEN = "xoxb-test"
APP_TOKEN = "xapp-test"
TEAM = "T1"
HOOKS = "https://hooks.slack.com/"
"""Where Slack's own hooks are; what it sends names them like this."""
SOON = 10
"""Seconds within which what should happen at once must happen."""
_SCHEMA = Draft7Validator(json.loads((Path(__file__).parent / "slack/blocks.schema.json").read_text(encoding="utf-8")))
_ROOM = 13_200
"""Bytes of blocks, as JSON, above which Slack answers msg_blocks_too_long."""


@dataclass(frozen=True)
class Reply:
    """What Slack answers, in place of what it would."""

    status: int = 200
    body: str = ""
    """Empty with 200: whatever it would answer."""
    headers: dict = field(default_factory=dict)
    is_silent: bool = False
    """It takes the request and never answers."""


def refused(reason):
    """Return an answer of the API that names an error."""
    return Reply(body=json.dumps({"ok": False, "error": reason}))


class SlackPeer:
    """The server; a context manager."""

    def __init__(self):
        self.messages = Queue()
        """What was accepted, in order."""
        self.replies = Queue()
        """Answers for the next messages; afterwards all that fits is accepted."""
        self.other_replies = defaultdict(Queue)
        """Method → answers for its next requests, of those that take no message."""
        self.posted = {}
        """(channel, ts) → the message as it stands."""
        self.told = Queue()
        """What was posted to the response_url of clicks: (path, message)."""
        self.acknowledged = Queue()
        """The ids of the envelopes that were acknowledged."""
        self.faults = []
        """What the real one would not take."""
        self._numbers = count(1)
        self._released = threading.Event()
        self._sockets = Queue()

    def __enter__(self) -> Self:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
                owner.answer(self, self.path, said(raw))

            def log_message(self, *_):
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._websocket = serve(self._talk, "127.0.0.1", 0)
        self._threads = [
            threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True),
            threading.Thread(target=self._websocket.serve_forever, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._websocket.shutdown()
        for thread in self._threads:
            thread.join()
        assert kind or not self.faults, self.faults

    @property
    def address(self):
        """Return where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    # --- requests ----------------------------------------------------------------------------------------------------

    def answer(self, request, path, message):
        """Answer one request."""
        method = path.rpartition("/")[2]
        takes_message = path == "/hook" or method in {"chat.postMessage", "chat.update"}
        queue = self.replies if takes_message else self.other_replies[method]
        reply = Reply() if queue.empty() else queue.get()
        if reply.is_silent:
            self._released.wait()
            request.close_connection = True
            return
        if reply == Reply():
            reply = self._own(path, method, request.headers.get("Authorization", ""), message)
        body = reply.body.encode()
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        with suppress(ConnectionError):  # whoever asked was killed meanwhile
            request.end_headers()
            request.wfile.write(body)

    def _own(self, path, method, authorization, message):
        """Return what it answers unless it was told what to say."""
        if path.startswith("/actions/"):
            self.told.put((path, message))
            return Reply(body="ok")
        if path == "/hook":
            reason = self._wrong_with(message)
            if not reason:
                self.messages.put({"method": "hook", **message})
            return Reply(status=400, body=reason) if reason else Reply(body="ok")
        token = APP_TOKEN if method == "apps.connections.open" else TOKEN
        if authorization != f"Bearer {token}":
            return refused("invalid_auth" if authorization else "not_authed")
        match method:
            case "auth.test":
                return _granted(team_id=TEAM, team="Acme", user="watcher", user_id="U0", bot_id="B0")
            case "apps.connections.open":
                port = self._websocket.socket.getsockname()[1]
                return _granted(url=f"ws://127.0.0.1:{port}/link/?ticket={next(self._numbers)}&app_id=A1")
            case "chat.postMessage" | "chat.update":
                return self._take(method, message)
        return refused("unknown_method")

    def _take(self, method, message):
        channel, ts = message.get("channel", ""), message.get("ts") or message.get("thread_ts")
        channel = channel if not channel.startswith("#") else f"C-{channel[1:]}"
        if ts and (channel, ts) not in self.posted:
            return refused("message_not_found" if method == "chat.update" else "thread_not_found")
        if reason := self._wrong_with(message):
            return refused(reason)
        self.messages.put({"method": method, **message})
        if method == "chat.postMessage":
            ts = f"1700000000.{next(self._numbers):06}"
        self.posted[channel, ts] = self.posted.get((channel, ts), {}) | message | {"channel": channel, "ts": ts}
        return _granted(channel=channel, ts=ts)

    def _wrong_with(self, message):
        """Return why Slack would refuse a message, in its own word."""
        if not message.get("text"):
            self.faults.append("no text")
            return "no_text"
        if why := fault(message.get("blocks", ())):
            self.faults.append(why)
            return "invalid_blocks"
        return ""

    # --- clicks ------------------------------------------------------------------------------------------------------

    def click(self, message, action, **more):
        """Let Dana press a button of a posted message; return the id of the envelope. `more` replaces parts of it."""
        block, button = next(
            (block, it)
            for block in message["blocks"]
            for it in block.get("elements", ())
            if it.get("action_id") == action
        )
        pressed = {name: button[name] for name in ("action_id", "type", "text", "value")}
        payload = {
            "type": "block_actions",
            "user": {"id": "U1", "username": "dana", "name": "dana", "team_id": TEAM},
            "api_app_id": "A1",
            "token": "unused",
            "container": {"type": "message", "message_ts": message["ts"], "channel_id": message["channel"]},
            "trigger_id": f"12.34.{next(self._numbers)}",
            "team": {"id": TEAM, "domain": "acme"},
            "enterprise": None,
            "is_enterprise_install": False,
            "channel": {"id": message["channel"], "name": "images"},
            "message": {"type": "message", "ts": message["ts"], "text": message["text"], "blocks": message["blocks"]},
            "state": {"values": {}},
            "response_url": f"{HOOKS}actions/{TEAM}/{next(self._numbers)}/secret",
            "actions": [{**pressed, "block_id": block["block_id"], "action_ts": "1700000001.000001"}],
            **more,
        }
        return self.send(payload)

    def send(self, payload, kind="interactive", envelope=None):
        """Send an envelope through the WebSocket, as soon as somebody listens; return its id."""
        name = envelope or f"envelope-{next(self._numbers)}"
        content = {"envelope_id": name, "type": kind, "accepts_response_payload": True, "payload": payload}
        self.send_raw(json.dumps(content))
        return name

    def send_raw(self, text):
        """Send text as it is."""
        socket = self._sockets.get(timeout=SOON)
        self._sockets.put(socket)
        socket.send(text)

    def hang_up(self):
        """Close the WebSocket, and forget it."""
        self._sockets.get(timeout=SOON).close()

    def cut(self):
        """End the connection without a word, as a server does that is killed, and forget it."""
        self._sockets.get(timeout=SOON).socket.shutdown(SHUT_RDWR)

    def ask_to_reconnect(self):
        """Say, as Slack does every few hours, that this connection ends; the next one is the one to talk through."""
        socket = self._sockets.get(timeout=SOON)
        socket.send(json.dumps({"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "x"}}))

    def _talk(self, socket):
        """Greet whoever connects, and note what it acknowledges."""
        assert "ticket=" in urlsplit(socket.request.path).query
        socket.send(json.dumps({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}))
        self._sockets.put(socket)
        try:
            for text in socket:
                self.acknowledged.put(json.loads(text)["envelope_id"])
        except ConnectionClosed:
            return


def fault(blocks):
    """Return what Slack would not take about blocks; nothing where it takes them."""
    room = len(json.dumps(blocks))
    actions = [
        (block["block_id"], it["action_id"])
        for block in blocks
        for it in block.get("elements", ())
        if "action_id" in it
    ]
    if room > _ROOM:
        return f"{room} bytes of blocks"
    if len(set(actions)) < len(actions):
        return f"an action_id twice: {actions}"
    error = best_match(_SCHEMA.iter_errors(list(blocks)))
    return f"{error.json_path}: {error.message[:500]}" if error else ""


def said(raw):
    """Return what a request says, as JSON or as a form."""
    message = json.loads(raw) if raw.startswith("{") else {key: value[0] for key, value in parse_qs(raw).items()}
    blocks = message.get("blocks")
    return {**message, "blocks": json.loads(blocks)} if isinstance(blocks, str) else message


def shown(message):
    """Return the words of a message, line by line."""
    return "\n\n".join(_read(block, {}) for block in message["blocks"]) + "\n"


def on_phone(message):
    """Return a message as a phone shows it, 38 characters a line; *bold*, ~crossed out~, [a link]."""
    lines = "\n\n".join(_read(block, _MARKS) for block in message["blocks"]).split("\n")
    wrapped = [textwrap.wrap(line, 38, break_on_hyphens=False) or [""] for line in lines]
    return "\n".join(part for parts in wrapped for part in parts) + "\n"


_MARKS = {"bold": "*", "strike": "~", "code": "`"}


def _read(node, marks):
    """Return the lines of a block or a part of one."""
    match node:
        case {"type": "header", "text": text}:
            return f"{'# ' if marks else ''}{text['text']}"
        case {"type": "section"}:
            return "\n\n".join(it["text"] for it in [*filter(None, [node.get("text")]), *node.get("fields", ())])
        case {"type": "actions", "elements": buttons}:
            return "\n".join(f"( {it['text']['text']} )" for it in buttons)
        case {"type": "rich_text", "elements": parts}:
            return "\n".join(_read(it, marks) for it in parts)
        case {"type": "rich_text_list", "elements": items}:
            return "\n".join(f"• {_read(it, marks)}" for it in items)
        case {"type": "rich_text_preformatted", "elements": parts}:
            return "\n".join(f"{'| ' if marks else ''}{line}" for it in parts for line in it["text"].split("\n"))
        case {"type": "rich_text_section" | "context", "elements": parts}:
            return "".join(_read(it, marks) for it in parts)
        case {"type": "divider"}:
            return ""
        case {"type": "text" | "link" | "plain_text", "text": text}:
            signs = "".join(sign for style, sign in marks.items() if node.get("style", {}).get(style))
            is_link = node["type"] == "link" and marks
            return f"{signs}{f'[{text}]' if is_link else text}{signs[::-1]}"
    raise AssertionError(f"nobody knows how this looks: {node}")


def _granted(**more):
    return Reply(body=json.dumps({"ok": True, **more}))
