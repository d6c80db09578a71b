"""Stands in for systemd with Type=notify: runs a command in a chroot as a user, writes what it is told into a file.

Usage: notify_and_run.py FILE ROOT USER NAME=VALUE COMMAND [ARGUMENT ...]
Passes SIGTERM on; ends with the command's exit code.
"""

import os
import signal
import socket
import subprocess
import sys


def main():
    told_path, root, user, setting = sys.argv[1:5]
    command = sys.argv[5:]
    name = f"ratchet-packages-{os.getpid()}"
    notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notified.bind("\0" + name)  # abstract: the same name inside the chroot
    notified.settimeout(0.1)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": "@" + name}
    if setting:
        key, value = setting.split("=", 1)
        environment[key] = value
    child = subprocess.Popen(["chroot", f"--userspec={user}:{user}", root, *command], env=environment)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    with open(told_path, "wb", buffering=0) as told:
        while True:
            ended = child.poll() is not None
            try:
                told.write(notified.recv(4096) + b"\n")
            except socket.timeout:
                if ended:  # all that it said before its end has been read
                    return child.returncode if child.returncode >= 0 else 128 - child.returncode
                continue


if __name__ == "__main__":
    sys.exit(main())
