"""Who may talk to the server: whoever has the token, under a name of this machine, from the server's own pages."""

import hmac
import ipaddress
import secrets
import socket

from tui.browser import LOOPBACK

WITHOUT_TOKEN = "Open the address that `memoranda serve` printed, with its token.\n"
OTHER_NAME = "This address is none that `memoranda serve` listens on: use the one that it printed.\n"
OTHER_ORIGIN = "Another page asked for this; only the server's own may.\n"


class Access:
    """Checks requests to a server that listens on `address`, an address or a name of this machine.

    A page of another site can send a browser here, also under a name of its own that leads to this machine (DNS
    rebinding); so the name in `Host` must be known, `Origin` must be the server's, and the token comes as a cookie that
    browsers send for the server's own pages alone."""

    def __init__(self, address: str, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"memoranda_{port}"  # cookies are shared by all ports of a host
        self._any = address in ("0.0.0.0", "::")
        self._names = {address.lower(), *LOOPBACK}
        if not local(address):
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def refuse(self, host: str, origin: str | None, websocket: bool) -> str | None:
        """Return why a request is refused, whatever token it has; None if it is not. `host` and `origin` are its
        headers."""
        if not self._known(_name(host)):
            return OTHER_NAME
        if origin is None:
            return OTHER_ORIGIN if websocket else None
        return None if origin == f"http://{host}" else OTHER_ORIGIN

    def has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _known(self, name: str) -> bool:
        return name in self._names or (self._any and _is_address(name))


def local(address: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    return address in LOOPBACK or (_is_address(address) and ipaddress.ip_address(address).is_loopback)


def _name(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
