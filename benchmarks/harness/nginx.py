"""Serve bare repositories by nginx, fcgiwrap and `git http-backend`, over http and https, as real servers do.

Both programs run below a folder of their own with a configuration of their own; nothing of the system's is used.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.ports import free_port, wait_for

_WORKERS = 4
_CONFIG = """\
worker_processes 1;
daemon off;
user root;
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections 1024; }}
http {{
  log_format asked "$request_method $request_uri $status";
  access_log {folder}/access.log asked;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{plain};
    {tls}
    location / {{
      fastcgi_pass unix:{folder}/fcgi.sock;
      fastcgi_param SCRIPT_FILENAME {backend};
      fastcgi_param GIT_PROJECT_ROOT {root};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param REMOTE_USER "";
      fastcgi_param HOME {folder};
    }}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx:
    """Where the repositories are served."""

    plain: str
    """`http://127.0.0.1:port`."""
    tls: str | None
    """`https://127.0.0.1:port`, where a certificate was given."""


def missing() -> str | None:
    """Return what has to be installed first, or None."""
    absent = [name for name in ("nginx", "fcgiwrap") if shutil.which(name) is None]
    return f"{' and '.join(absent)} (apt-get install nginx-light fcgiwrap)" if absent else None


@contextmanager
def nginx(folder: Path, root: Path, *, cert: Path | None = None) -> Iterator[Nginx]:
    """Serve the bare repositories below `root`; `folder` is for sockets, logs and settings."""
    folder.mkdir(parents=True, exist_ok=True)
    # Repositories may belong to somebody else than the one who serves them.
    (folder / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    plain, tls = free_port(), free_port()
    (folder / "nginx.conf").write_text(
        _CONFIG.format(folder=folder, root=root, plain=plain, tls=_tls(tls, cert), backend=_backend())
    )
    socket = folder / "fcgi.sock"
    socket.unlink(missing_ok=True)
    started = [_start(["fcgiwrap", "-c", str(_WORKERS), "-s", f"unix:{socket}"])]
    try:
        started.append(_start(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]))
        for port in (plain, tls) if cert else (plain,):
            wait_for(port)
        yield Nginx(plain=f"http://127.0.0.1:{plain}", tls=f"https://127.0.0.1:{tls}" if cert else None)
    finally:
        for running in reversed(started):
            os.killpg(running.pid, signal.SIGTERM)
            running.wait()


def _tls(port: int, cert: Path | None) -> str:
    if cert is None:
        return ""
    return f"listen 127.0.0.1:{port} ssl; ssl_certificate {cert}; ssl_certificate_key {cert};"


def _backend() -> Path:
    """Return where `git http-backend` lies."""
    printed = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout
    return Path(printed.strip()) / "git-http-backend"


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a program in a group of its own, so that its children end with it."""
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
