"""The command that asks the warm interpreter for a process, and ends as that process does.

It stands in for the installed script: who runs it sees the same streams, signals and exit code.
``@…@`` is filled in by ``warm_start``. It imports next to nothing, to be quick: of sockets and
signals only what is written in C, since their modules take as long as the interpreter itself.
"""

import _signal as signal
import _socket as socket
import array
import marshal
import os
import struct
import sys

REAL = ["@REAL@"]
ENTRY = "@ENTRY@"
ADDRESS = "@ADDRESS@"

COLD = ("PYTHONIOENCODING", "PYTHONSAFEPATH", "PYTHONHOME", "PYTHONWARNINGS", "LC_ALL")
"""What changes an interpreter as it starts: then the installed script itself is run."""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def main() -> None:
    """Ask, pass signals on, and end with the same status."""
    words = [REAL[-1], *sys.argv[1:]]
    number = f"{ADDRESS}-{os.getpid()}"
    if any(map(os.environ.get, COLD)):
        with open(number, "w") as file:  # noqa: PTH123 - pathlib would be imported
            file.write(str(os.getpid()))
        os.execv(REAL[0], [*REAL, *sys.argv[1:]])
    request = marshal.dumps((ENTRY, words, os.getcwd(), dict(os.environ), number))  # noqa: PTH109
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(ADDRESS)
    streams = array.array("i", (0, 1, 2))
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
    connection.sendmsg([struct.pack("i", len(request))], rights)
    connection.sendall(request)
    pid = struct.unpack("i", connection.recv(4))[0]
    for forwarded in FORWARDED:
        signal.signal(forwarded, lambda number, _: os.kill(pid, number))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nowhere, stream)
    status = struct.unpack("i", connection.recv(4))[0]
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:  # of which nothing can be set
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


main()
