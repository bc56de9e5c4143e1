"""Something between client and server that cuts a connection at its commit, before or after the server has seen it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

COMMIT = b"COMMIT\0"
READY = b"Z\0\0\0\5"
Cut = Literal["before", "after"]


class CuttingProxy:
    """Passes on what both sides say; `cut_next` commits lose their connection."""

    def __init__(self, folder: Path, server: tuple[Any, ...]) -> None:
        self._server, self._cuts = server, list[Cut]()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        self._ends: list[socket.socket] = [self._listening]
        self.cut = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_next(self, *cuts: Cut) -> None:
        """Cut the connections of the next commits: before the server sees them, or after it has answered."""
        self._cuts += cuts

    def close(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                family, address = self._server
                server = socket.socket(family)
                server.connect(address)
                self._ends += [client, server]
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        silent = threading.Event()
        threading.Thread(target=self._answer, args=(server, client, silent), daemon=True).start()
        with suppress(OSError):
            while data := client.recv(1 << 20):
                if data.endswith(COMMIT) and self._cuts:
                    self.cut += 1
                    if self._cuts.pop(0) == "after":
                        silent.set()
                        server.sendall(data)
                        continue  # the answer closes the connection
                    break
                server.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _answer(self, server: socket.socket, client: socket.socket, silent: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if silent.is_set():
                    if READY in data:
                        break
                    continue
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting_proxy(folder: Path, address: str) -> Iterator[tuple[CuttingProxy, str]]:
    """Put a proxy before a server, and return it with the address that leads through it."""
    from psycopg.conninfo import conninfo_to_dict

    given = conninfo_to_dict(address)
    host, port = str(given["host"]), int(given.get("port") or 5432)
    is_file = host.startswith("/")
    server = (socket.AF_UNIX, f"{host}/.s.PGSQL.{port}") if is_file else (socket.AF_INET, (host, port))
    proxy = CuttingProxy(folder, server)
    others = {name: value for name, value in given.items() if name not in ("host", "port")}
    query = "&".join(f"{name}={quote(str(value))}" for name, value in {**others, "host": str(folder)}.items())
    try:
        yield proxy, f"postgresql://?{query}&sslmode=disable&gssencmode=disable"
    finally:
        proxy.close()
