"""The digest by mail: encrypted, logged in, sent once, and every trouble told without the password."""

import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from select import select

import pytest
import trustme

from tests.mailpeer import PASSWORD, USER, MailPeer
from tests.report import weeks
from watcher.channels.mail import Mail
from watcher.errors import ConfigError, DeliveryError
from watcher.report.digest import Letter, letter

NOW = weeks.UNTIL
HOUR = timedelta(hours=1)
LETTER = Letter(
    subject="watcher: nothing to tell", text="Schön ruhig: → nichts.\n", html="<p>Schön ruhig: → nichts.</p>\n"
)
TO = ("a@example.org", "b@example.org")


@pytest.fixture(scope="session")
def authority():
    """Make an authority for certificates."""
    return trustme.CA()


@pytest.fixture
def tls(authority):
    """Return the TLS of a server on loopback."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def trusted(authority, monkeypatch, tmp_path):
    """Trust the authority as a system does that has it in SSL_CERT_FILE."""
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))


@pytest.fixture
def peer():
    """Run a mail server without any TLS."""
    with MailPeer() as running:
        yield running


def mail(peer, *, to=TO, password=None, user=USER):
    """Return the channel to a server."""
    secret = None if password is None else lambda: password
    return Mail(server=peer.address, sender="watcher@example.org", to=to, user=user, password=secret)


def failure(channel, told=LETTER):
    """Return why a letter could not be sent."""
    with pytest.raises(DeliveryError) as error:
        channel.send("digest 2026-W49 mail", told, NOW)
    assert PASSWORD not in str(error.value)
    return error.value


class Beside:
    """Do something in a thread, for as long as a block runs."""

    def __init__(self, work):
        self._thread = threading.Thread(target=work)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._thread.join()


def test_a_letter_arrives(peer):
    """As text and as HTML, to everybody, marked as sent by a program."""
    assert mail(peer).send("digest 2026-W49 mail", LETTER, NOW) is None
    recipients, message, is_encrypted = peer.arrived.get_nowait()
    assert list(TO) == recipients
    assert not is_encrypted
    assert "multipart/alternative" == message.get_content_type()
    assert ["text/plain", "text/html"] == [part.get_content_type() for part in message.iter_parts()]
    assert LETTER.text == message.get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert LETTER.html == message.get_body(("html",)).get_content().replace("\r\n", "\n")
    assert "watcher <watcher@example.org>" == message["From"]
    assert "a@example.org, b@example.org" == message["To"]
    assert LETTER.subject == message["Subject"]
    assert NOW == message["Date"].datetime
    assert "auto-generated" == message["Auto-Submitted"]
    assert "watcher digest <digest.watcher.example.org>" == message["List-Id"]
    assert peer.arrived.empty()


def test_the_message_id_is_the_key(peer):
    """A letter that is sent twice after a crash is one for whoever sorts them by id; another digest is another."""
    for key in ("one", "one", "two\r\nBcc: x@evil.example"):
        mail(peer).send(key, LETTER, NOW)
    first, again, other = (peer.arrived.get_nowait()[1]["Message-ID"] for _ in range(3))
    assert first == again != other
    assert first.endswith("@example.org>")


def test_a_whole_digest_survives_the_way(peer):
    """Long lines, letters of any script, quotes."""
    told = letter(weeks.EVERYTHING)
    mail(peer).send("key", told, NOW)
    _, message, _ = peer.arrived.get_nowait()
    assert told.html == message.get_body(("html",)).get_content().replace("\r\n", "\n")
    assert told.text == message.get_body(("plain",)).get_content().replace("\r\n", "\n")


def test_no_header_can_be_put_in(peer):
    """A line break in a subject is a space."""
    mail(peer).send("key", replace(LETTER, subject="a\r\nBcc: x@evil.example\n\nbody"), NOW)
    recipients, message, _ = peer.arrived.get_nowait()
    assert "a Bcc: x@evil.example body" == message["Subject"]
    assert message["Bcc"] is None
    assert list(TO) == recipients


@pytest.mark.parametrize("is_implicit", [False, True])
@pytest.mark.parametrize("has_login", [False, True])
def test_encrypted(tls, trusted, is_implicit, has_login):
    """STARTTLS where it is offered, TLS from the first byte on for smtps://; with and without a login."""
    with MailPeer(tls, is_implicit=is_implicit, has_login=has_login) as peer:
        assert mail(peer, password=PASSWORD if has_login else None).send("key", LETTER, NOW) is None
        _, _, is_encrypted = peer.arrived.get_nowait()
        assert is_encrypted
        assert has_login == (not peer.logins.empty())


@pytest.mark.parametrize("is_implicit", [False, True])
def test_a_certificate_that_nobody_vouches_for(tls, is_implicit):
    """Nothing is sent, neither the letter nor the password; a person must see to it."""
    with MailPeer(tls, is_implicit=is_implicit, has_login=True) as peer:
        error = failure(mail(peer, password=PASSWORD))
        assert "the mail server's certificate is not trusted" in str(error)
        assert HOUR == error.again
        assert peer.arrived.empty()
        assert peer.logins.empty()


def test_a_wrong_login(tls, trusted):
    """A person must see to it, and the password is not told."""
    with MailPeer(tls, has_login=True) as peer:
        error = failure(mail(peer, password="wrong horse"))
        assert "the mail server refuses the login (535)" == str(error)
        assert (HOUR, False) == (error.again, error.is_final)
        assert peer.arrived.empty()


def test_a_password_is_never_sent_in_the_clear():
    """A server without STARTTLS gets no login, not even on loopback."""
    with MailPeer(has_login=True) as peer:
        error = failure(mail(peer, password=PASSWORD))
        assert "never sent in the clear" in str(error)
        assert HOUR == error.again
        assert peer.logins.empty()
        assert peer.arrived.empty()


def test_a_server_without_a_login(tls, trusted):
    """A password that nobody asks for is a mistake that a person must mend."""
    with MailPeer(tls) as peer:
        error = failure(mail(peer, password=PASSWORD))
        assert "No suitable authentication method" in str(error)
        assert HOUR == error.again


def test_a_password_of_other_letters(tls, trusted):
    """It is not told in the error that says so."""
    with MailPeer(tls, has_login=True) as peer:
        error = failure(mail(peer, password="pässwörd"))
        assert "letters that a login cannot carry" in str(error)
        assert "pässwörd" not in str(error)


def test_a_missing_secret_is_told_before_anybody_is_asked(peer):
    """No server sees a letter that it could not take."""

    def missing():
        raise ConfigError("expected a secret in env:SMTP_PASSWORD, found nothing there")

    with pytest.raises(ConfigError, match="env:SMTP_PASSWORD"):
        replace(mail(peer), password=missing).send("key", LETTER, NOW)


@pytest.mark.parametrize(
    ("command", "reply", "again", "is_final"),
    [
        ("DATA", "451 4.3.0 try later", None, False),
        ("DATA", "554 5.7.1 not from you", HOUR, False),
        ("DATA", "552 too large", None, True),
        ("DATA", "554 5.6.0 what is this", None, True),
        ("DATA", "550 5.3.4 too big", None, True),
        ("MAIL", "451 4.7.1 greylisted", None, False),
        ("MAIL", "550 5.7.1 who are you", HOUR, False),
    ],
)
def test_a_server_that_refuses(peer, command, reply, again, is_final):
    """4xx passes by itself, 5xx wants a person, and a message of the wrong size or kind can never be sent."""
    peer.replies[command] = reply
    error = failure(mail(peer))
    assert (again, is_final) == (error.again, error.is_final)
    assert reply[:3] in str(error)
    assert peer.arrived.empty()


def test_one_recipient_is_refused(peer):
    """The others have it, so that it counts as sent; who has not is told."""
    peer.replies["b@example.org"] = "550 5.1.1 no \x1b[31msuch user"
    told = mail(peer).send("key", LETTER, NOW)
    assert "b@example.org: 550 5.1.1 no [31msuch user" == told
    assert ["a@example.org"] == peer.arrived.get_nowait()[0]


@pytest.mark.parametrize(("reply", "again"), [("550 no such user", HOUR), ("450 greylisted", None)])
def test_every_recipient_is_refused(peer, reply, again):
    """Where one of them may be taken later, it is tried later."""
    peer.replies |= {"a@example.org": "550 no such user", "b@example.org": reply}
    error = failure(mail(peer))
    assert "a@example.org: 550 no such user; b@example.org" in str(error)
    assert again == error.again


def test_whoever_is_put_off_is_waited_for(peer):
    """As long as there is patience, nobody gets it; afterwards those do who can."""
    peer.replies["b@example.org"] = "450 greylisted"
    with pytest.raises(DeliveryError, match=r"puts off b@example\.org: 450 greylisted") as error:
        mail(peer).send("key", LETTER, NOW, is_patient=True)
    assert (None, False) == (error.value.again, error.value.is_final)
    assert peer.arrived.empty()
    assert "b@example.org: 450 greylisted" == mail(peer).send("key", LETTER, NOW)
    assert ["a@example.org"] == peer.arrived.get_nowait()[0]


def test_patience_changes_nothing_for_whoever_is_refused(peer):
    """A mailbox that is not there is not waited for."""
    peer.replies["b@example.org"] = "550 no such user"
    assert "b@example.org: 550 no such user" == mail(peer).send("key", LETTER, NOW, is_patient=True)


def test_a_rude_good_bye_is_no_failure(peer):
    """What the server took is sent: to try again would send it twice."""
    peer.replies["QUIT"] = "421 go away"
    assert mail(peer).send("key", LETTER, NOW) is None
    assert not peer.arrived.empty()


def test_nobody_there():
    """It is tried again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        channel = Mail(server=f"smtp://127.0.0.1:{taken.getsockname()[1]}", sender="w@example.org", to=TO)
        error = failure(channel)
    assert "the mail server could not be reached (ConnectionRefusedError)" == str(error)
    assert (None, False) == (error.again, error.is_final)


def test_a_server_that_breaks_off():
    """It is tried again."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        channel = Mail(server=f"smtp://127.0.0.1:{server.getsockname()[1]}", sender="w@example.org", to=TO)

        def hang_up():
            server.accept()[0].close()

        with Beside(hang_up):
            error = failure(channel)
    assert error.again is None


@pytest.mark.parametrize("is_private", [False, True])
def test_a_server_that_drips(tls, trusted, monkeypatch, is_private):
    """It is never silent for long, and yet left in time; then it is tried again."""
    monkeypatch.setattr("watcher.channels.mail._TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        way = "smtps" if is_private else "smtp"
        channel = Mail(server=f"{way}://127.0.0.1:{server.getsockname()[1]}", sender="w@example.org", to=TO)

        def drip():
            plain = server.accept()[0]
            connection = tls.wrap_socket(plain, server_side=True) if is_private else plain
            with connection, suppress(OSError):
                while not select([connection], [], [], 0.05)[0]:
                    connection.sendall(b"2")

        with Beside(drip):
            error = failure(channel)
    assert "the mail server broke off the connection" == str(error)
    assert (None, False) == (error.again, error.is_final)


def test_a_server_that_says_that_it_is_busy():
    """4xx as a greeting passes by itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        channel = Mail(server=f"smtp://127.0.0.1:{server.getsockname()[1]}", sender="w@example.org", to=TO)

        def refuse():
            with server.accept()[0] as connection:
                connection.sendall(b"421 4.3.2 too busy\r\n")

        with Beside(refuse):
            error = failure(channel)
    assert "the mail server refuses: 421 4.3.2 too busy" == str(error)
    assert error.again is None


@pytest.mark.parametrize("address", ["ü@example.org", "a@müller.example"])
def test_addresses_of_other_letters(peer, address):
    """A server that cannot carry them is told; nothing breaks."""
    error = failure(mail(peer, to=(address,)))
    assert HOUR == error.again


@pytest.mark.parametrize("address", ["ü@example.org", '"@x', "a@x..y", ".a.@x", "a@b)"])
def test_a_sender_that_is_no_address(peer, address):
    """It waits for a person, as what is wrong in the configuration does."""
    error = failure(replace(mail(peer), sender=address))
    assert "cannot be written into a mail" in str(error)
    assert (HOUR, False) == (error.again, error.is_final)
