"""Send a digest by mail: over STARTTLS or implicit TLS, with a login where there is an account.

Nothing is tried twice here: what can be tried again, and when, is told by `DeliveryError`, and the outbox decides.
"""

import smtplib
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from socket import SHUT_RDWR
from threading import Timer
from urllib.parse import urlsplit

from watcher.errors import DeliveryError
from watcher.report.digest import Letter
from watcher.report.text import safe

_TIMEOUT = 30
"""Seconds to wait at each step: for a sign of the server, and for its whole answer."""
_PORTS = {"smtp": 25, "smtps": 465}
_HOUR = timedelta(hours=1)
_LONGEST = 200
"""Characters of what a server says that are told."""
_TOO_LARGE = 552
_UNFIT = ("5.2.3", "5.3.4", "5.6.")
"""Beginnings of what is said of a message that can never be sent as it is: too long, or of a kind that is not taken."""

Reply = tuple[int, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail server, and who gets the digest."""

    server: str
    """smtp://host:port (STARTTLS where offered, and always for a password) or smtps://host:port."""
    sender: str
    to: tuple[str, ...]
    user: str | None = None
    password: Callable[[], str] | None = None

    def send(self, key: str, letter: Letter, now: datetime, *, is_patient: bool = False) -> str | None:
        """Send a letter under its idempotency key, of which the Message-ID is made; raise DeliveryError.

        Returns whom the server refused and why, None where everybody gets it. It is sent all the same: to try again
        would send it twice to the others. With `is_patient`, nobody gets it yet where somebody is put off (4xx).
        """
        # The secret is looked up first: where it is missing, no server need be asked.
        password = self.password() if self.password else None
        try:
            message = self._message(key, letter, now)
            server = self._connected()
            server.is_patient = is_patient
            try:
                self._enter(server, password)
                refused = server.send_message(message, self.sender, list(self.to))
            except BaseException:
                server.close()
                raise
        except DeliveryError:
            raise
        except (smtplib.SMTPException, MessageError, OSError, ValueError) as error:
            raise _trouble(error) from None
        _leave(server)
        return _refusals(refused) if refused else None

    def _message(self, key: str, letter: Letter, now: datetime) -> EmailMessage:
        domain = self.sender.rpartition("@")[2]
        message = EmailMessage(policy=SMTP)
        message["From"] = Address(display_name="watcher", addr_spec=self.sender)
        message["To"] = ", ".join(self.to)
        # What looks like an encoded word would be decoded on its way into the header, line breaks and all.
        message["Subject"] = safe(letter.subject).replace("=?", "= ?")
        message["Date"] = format_datetime(now)
        message["Message-ID"] = f"<{sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}@{domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message["List-Id"] = f"watcher digest <digest.watcher.{domain}>"
        # Lines of any length and any letter, over servers that take neither.
        message.set_content(letter.text, cte="quoted-printable")
        message.add_alternative(letter.html, subtype="html", cte="quoted-printable")
        for it in letter.pictures:
            _, page = message.iter_parts()
            page.add_related(it.png, "image", "png", cid=f"<{it.cid}>", disposition="inline", filename="history.png")
        return message

    def _connected(self) -> "Line":
        place = urlsplit(self.server)
        host, port = place.hostname or "", place.port or _PORTS[place.scheme]
        if place.scheme == "smtps":
            return PrivateLine(host, port, timeout=_TIMEOUT, context=ssl.create_default_context())
        return Line(host, port, timeout=_TIMEOUT)

    def _enter(self, server: smtplib.SMTP, password: str | None) -> None:
        """Greet the server, encrypt, and log in where there is an account."""
        server.ehlo_or_helo_if_needed()
        is_encrypted = isinstance(server, smtplib.SMTP_SSL)
        if not is_encrypted and server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
            is_encrypted = True
        if password is None:
            return
        if not is_encrypted:
            raise DeliveryError(
                "the mail server offers no STARTTLS, and a password is never sent in the clear: use smtps://, or no "
                "password",
                again=_HOUR,
            )
        server.login(self.user or self.sender, password)


class _PutOff(smtplib.SMTPRecipientsRefused):
    """Somebody will be taken later."""


class Line(smtplib.SMTP):
    """A connection on which each answer comes in time, or none: a server that drips is never silent for long."""

    is_patient = False
    """Whether everybody waits for whom the server puts off."""
    _is_late = False

    def getreply(self) -> tuple[int, bytes]:
        """Return one answer; raise SMTPServerDisconnected where it is not whole within the timeout."""
        timer = Timer(self.timeout, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            reply = super().getreply()
        finally:
            timer.cancel()
        if self._is_late:  # the half of an answer would be taken for one
            self.close()
            raise smtplib.SMTPServerDisconnected
        return reply

    def rcpt(self, recip: str, options: Sequence[str] = ()) -> tuple[int, bytes]:
        """Name an addressee; raise where that one is put off and everybody waits."""
        code, said = super().rcpt(recip, options)
        if self.is_patient and 400 <= code < 500:  # noqa: PLR2004 - 4xx is for now
            raise _PutOff({recip: (code, said)})
        return code, said

    def _hang_up(self) -> None:
        self._is_late = True
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(SHUT_RDWR)


class PrivateLine(Line, smtplib.SMTP_SSL):
    """The same over TLS from the first byte on."""


def _leave(server: smtplib.SMTP) -> None:
    """Say good-bye; the message is sent, whatever the server makes of that."""
    with suppress(smtplib.SMTPException, OSError):
        server.quit()
    server.close()


def _trouble(error: Exception) -> DeliveryError:
    """Return what an error means: never, later, or once a person has done something."""
    match error:
        case smtplib.SMTPResponseException():
            return _of_reply(error)
        case _PutOff():
            return DeliveryError(f"the mail server puts off {_refusals(error.recipients)}")
        case smtplib.SMTPRecipientsRefused():
            code = min(code for code, _ in error.recipients.values())
            return _of_code(code, f"the mail server refuses every recipient: {_refusals(error.recipients)}")
        case smtplib.SMTPServerDisconnected():
            return DeliveryError("the mail server broke off the connection")
        case ssl.SSLCertVerificationError():
            return DeliveryError(f"the mail server's certificate is not trusted: {error.verify_message}", again=_HOUR)
        case UnicodeError():
            # Its text holds what could not be encoded, which may be the password.
            return DeliveryError("server, user or password has letters that a login cannot carry", again=_HOUR)
        case smtplib.SMTPException():
            # It cannot do what is asked for: a login, or addresses of any script.
            return DeliveryError(f"the mail server does not serve: {safe(str(error), _LONGEST)}", again=_HOUR)
        case MessageError() | ValueError():
            return DeliveryError("an address or the subject cannot be written into a mail", again=_HOUR)
        case _:
            return DeliveryError(f"the mail server could not be reached ({type(error).__name__})")


def _of_reply(error: smtplib.SMTPResponseException) -> DeliveryError:
    code, said = error.smtp_code, _said(error.smtp_code, error.smtp_error)
    match error:
        case smtplib.SMTPAuthenticationError():
            # What the server says beside its code may repeat what it was given.
            return _of_code(code, f"the mail server refuses the login ({code})")
        case smtplib.SMTPDataError() if code == _TOO_LARGE or said.partition(" ")[2].startswith(_UNFIT):
            return DeliveryError(f"the mail server does not take this message: {said}", is_final=True)
        case smtplib.SMTPSenderRefused():
            return _of_code(code, f"the mail server refuses the sender: {said}")
        case _:
            return _of_code(code, f"the mail server refuses: {said}")


def _of_code(code: int, reason: str) -> DeliveryError:
    """Return the trouble of a reply: 4xx passes, 5xx wants a person."""
    return DeliveryError(reason, again=None if code < 500 else _HOUR)  # noqa: PLR2004 - 5xx is permanent


def _refusals(refused: Mapping[str, Reply]) -> str:
    """Return who was refused, and why."""
    return "; ".join(f"{safe(name, _LONGEST)}: {_said(*reply)}" for name, reply in refused.items())


def _said(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {safe(words, _LONGEST)}".rstrip()
