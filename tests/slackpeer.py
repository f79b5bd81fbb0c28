"""A Slack on loopback: takes messages of bots and webhooks, checks their shape and limits, answers as it is told."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Self
from urllib.parse import parse_qs

TOKEN = "xoxb-test"


@dataclass(frozen=True)
class Reply:
    """What Slack answers."""

    status: int = 200
    body: str = '{"ok": true, "channel": "C1", "ts": "1.1"}'
    headers: dict = field(default_factory=dict)


def refused(reason):
    """Return an answer of the API that names an error."""
    return Reply(body=json.dumps({"ok": False, "error": reason}))


class SlackPeer:
    """The server; a context manager."""

    def __init__(self):
        self.messages = Queue()
        """What was accepted, in order."""
        self.replies = Queue()
        """Answers for the next requests; afterwards all is accepted."""

    def __enter__(self) -> Self:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
                method = self.path.rpartition("/")[2]
                if self.path.startswith("/api/"):
                    assert method in {"chat.postMessage", "chat.update"}
                    assert f"Bearer {TOKEN}" == self.headers["Authorization"]
                said = owner.read(raw)
                reply = Reply() if owner.replies.empty() else owner.replies.get()
                if self.path == "/hook" and reply == Reply():
                    reply = Reply(body="ok")
                if reply.status == 200 and "error" not in reply.body:
                    owner.messages.put({"method": method, **said})
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body.encode())

            def log_message(self, *_):
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self):
        """Return where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @staticmethod
    def read(raw):
        """Return a message; fail for one that the real one would not take."""
        said = json.loads(raw) if raw.startswith("{") else {key: value[0] for key, value in parse_qs(raw).items()}
        blocks = said["blocks"] if isinstance(said["blocks"], list) else json.loads(said["blocks"])
        assert 0 < len(blocks) <= 50
        assert said["text"]
        for block in blocks:
            assert block["type"] in {"header", "rich_text"}
            if block["type"] == "header":
                assert {"type": "plain_text"}.items() <= block["text"].items()
                assert 0 < len(block["text"]["text"]) <= 150
        assert len(json.dumps(blocks)) < 13_000
        return {**said, "blocks": blocks}


def shown(message):
    """Return all text of a message, line by line as people read it."""
    texts = []

    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("text"), str):
                texts.append(node["text"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(message["blocks"])
    return "".join(texts)
