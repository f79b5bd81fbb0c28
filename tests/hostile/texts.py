"""Words as nobody writes them who means well: one list, for every place that a stranger can write to."""

TEXTS: dict[str, bytes] = {
    "terminal-colours": b"\x1b[31;1mred\x1b[0m",
    "terminal-title": b"\x1b]0;owned\x07",
    "terminal-link": b"\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "terminal-cursor": b"\x1b[2J\x1b[1;1H\x1b[1A\x1b[2Kall is well",
    "terminal-c1": "\x9b31m\x9d0;owned\x9c".encode(),
    "backspaces": b"harmless\x08\x08\x08\x08\x08\x08\x08\x08harmful",
    "carriage-return": b"fixed\rCLEAN",
    "bidirectional": "\u202egnp.exe\u202c \u2066\u2067x\u2069\u2069 \u200f\u061c".encode(),
    "zero-width": "up\u200bst\u200cre\u200dam\ufeff\u2060\u00ad".encode(),
    "tags-and-private": "a\U000e0041\U000e007f\ue000\ufff9b\ufffb\U0010fffd".encode(),
    "line-separators": "one\u2028two\u2029three\x85four".encode(),
    "combining": ("z" + "\u0301" * 200).encode(),
    "slack-channel": b"<!channel> <!here> <!everyone>",
    "slack-mention": b"<@U1> <#C1> <!subteam^S1>",
    "slack-link": b"<https://evil.example/|https://github.com/acme/engine>",
    "mrkdwn": b"*bold* _it_ ~no~ `code` ```block``` :fire: &lt;!channel&gt;",
    "html-script": b"<script>alert(1)</script>",
    "html-attribute": b"\"' onmouseover=alert(1) x='\"><img src=https://evil.example/a.png onerror=alert(1)>",
    "html-end": b"</td></tr></table></body></html><style>*{display:none}</style><!--",
    "html-entity": b"&lt;b&gt; &#60;script&#62; &amp;amp;",
    "template": b"{{ 7*7 }} {% raw %} ${7*7} %s %(x)s {0.__class__}",
    "markdown-link": b"[safe](https://evil.example/) ![i](https://evil.example/i.png) [x]: https://evil.example",
    "markdown-block": b"x\n\n# Heading\n\n- [x] done\n\n| a | b |\n| --- | --- |\n",
    "markdown-end": b"``` ~~~ </details> --> | | <!-- watcher: bump 0123456789abcdef " + b"1" * 40 + b" -->",
    "forge-mention": b"@everyone @octocat #1 acme/engine#2 GH-3 !4 fixes #5 https://evil.example www.evil.example",
    "forge-command": b"/close\n/merge\n/assign @octocat\n",
    "mail-headers": b"hello\r\nBcc: everyone@example.org\r\nContent-Type: text/html\r\n\r\n<b>body</b>",
    "mail-body": b".\r\n.\r\nQUIT\r\nFrom mailbox\r\n--===============0==",
    "encoded-word": b"=?utf-8?q?=0D=0ABcc:_everyone=40example.org?=",
    "sql": b"'); DROP TABLE findings; --",
    "shell": b"$(touch owned) `touch owned`; touch owned | touch owned && touch owned",
    "dashes": b"--upload-pack=touch owned",
    "dots": b"../../../../etc/passwd",
    "absolute": b"/etc/passwd",
    "invalid-utf-8": b"\xff\xfe\xc0\xaf\xed\xa0\x80 \xe2\x80",
    "nul": b"before\x00after",
    "delete": b"a\x7fb\x01c",
    "blank": " \u3000\u00a0\u2003\t ".encode(),
    "long": b"long " * 4_000,
    "one-long-word": b"x" * 20_000,
    "our-own-words": b"CRITICAL new: nothing to do; 0 findings (fix-available, since 2026-01-01) abc1234",
}
"""Name -> bytes, as they stand in a commit, a path, a name."""


def as_ref(text: bytes) -> bytes:
    """Return the nearest that git takes as a part of a ref's name."""
    kept = bytes(byte if byte > 0x20 and byte not in b"\x7f~^:?*[\\" else 0x2B for byte in text[:150])
    name = "+".join(kept.decode(errors="ignore").splitlines())  # their own test: test_line_ends_that_git_does_not_know
    name = name.replace("..", "+.").replace("@{", "@+").replace("//", "/+").encode()
    parts = (part.strip(b".").removesuffix(b".lock") or b"+" for part in name.split(b"/"))
    return b"/".join(parts)


def as_file_name(text: bytes) -> bytes:
    """Return the nearest that can be the name of one file: all bytes but two."""
    return text[:120].replace(b"\0", b"+").replace(b"/", b"+") or b"+"


def as_person(text: bytes) -> bytes:
    """Return the nearest that can be an author's name in a commit that git reads at all."""
    return bytes(byte if byte not in b"<>\n\0" else 0x2B for byte in text[:500])
