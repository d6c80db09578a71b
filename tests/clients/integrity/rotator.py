#!/usr/bin/env python3
"""Replaces the certificates of a local cluster and then their authority, again and again, while clients work.

Usage: rotator.py BIN_DIRECTORY CLUSTER_DIRECTORY CLIENT_DIRECTORY REPORT

CLIENT_DIRECTORY has the client's node.pem and ca.pem, which are replaced as well. A rotation has three steps: both authorities are
trusted; certificates of the new authority; only the new authority is trusted. Each file is written beside the old one and renamed,
and no process gets a signal. A step ends when each port of the cluster shows it to a new connection, in 60 s at most, and the
client has had the time to look at its files.

SIGUSR1 ends the work after the present rotation, SIGTERM at once. REPORT has lines "NAME VALUE": rotations, longest (ms of a step), and,
where a deadline passed, failure. Exit code 0: each step was done in time. 1: one was not.
"""
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import time

from killer import Cluster, Ended, Signals

DEADLINE_S = 60.0
CLIENT_LOOKS_S = 5.0  # longer than the interval in which the client looks at its files (tests/clients/integrity/run)
PROBE_S = 10.0


def replace(path, text):
    """The file has this text, and at no time a part of it."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    os.replace(new, path)


class Authority:
    """Certificates of an own authority, made by `ratchet certificates init`."""

    def __init__(self, bin_directory, folder):
        self.folder = folder
        if not folder.exists():
            subprocess.run([os.path.join(bin_directory, "ratchet"), "certificates", "init", str(folder), "--hosts", "127.0.0.1+localhost"],
                           check=True, capture_output=True)

    def text(self, name):
        return (self.folder / name).read_text()


def probe(port, key, trust):
    """The certificate that the port shows a client with this key, or None if one of the two refuses the other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # a client learns in the handshake that it is refused
    context.check_hostname = False
    context.load_verify_locations(trust)
    context.load_cert_chain(key)
    try:
        with socket.create_connection(("127.0.0.1", port), PROBE_S) as plain, context.wrap_socket(plain) as secure:
            return secure.getpeercert()["serialNumber"]
    except ssl.SSLError:
        return None


class Rotator:
    def __init__(self, bin_directory, directory, client, report, signals):
        self.bin = bin_directory
        self.cluster = Cluster(bin_directory, directory)
        self.places = [pathlib.Path(directory) / "certificates", pathlib.Path(client)]
        self.work = pathlib.Path(client)
        self.report = report
        self.signals = signals
        self.rotations = 0
        self.longest_ms = 0
        self.began = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.began:8.1f} {text}", flush=True)

    def write_report(self, failure=""):
        lines = [f"rotations {self.rotations}", f"longest {self.longest_ms}"]
        if failure:
            lines.append("failure " + " ".join(failure.split()))
        replace(pathlib.Path(self.report), "\n".join(lines) + "\n")

    def ports(self):
        status = self.cluster.call("status").stdout
        return [int(line.split()[3]) for line in status.splitlines() if line.startswith(("master-", "rs-"))]

    def step(self, what, done):
        """Waits until `done(port)` for each port."""
        began = time.monotonic()
        for port in self.ports():
            while not done(port):
                if time.monotonic() - began >= DEADLINE_S:
                    raise RuntimeError(f"port {port} does not show after {DEADLINE_S:.0f} s: {what}")
                self.signals.pause(0.5)
        took_ms = int((time.monotonic() - began) * 1000)
        self.longest_ms = max(self.longest_ms, took_ms)
        self.say(f"{what}: every port after {took_ms} ms")
        self.signals.pause(CLIENT_LOOKS_S)

    def give_trust(self, text):
        for place in self.places:
            replace(place / "ca.pem", text)

    def rotate(self, old, new):
        both = self.work / "both.pem"
        replace(both, old.text("ca.pem") + new.text("ca.pem"))
        key = {each: str(each.folder / "admin.pem") for each in (old, new)}
        self.give_trust(both.read_text())
        self.step("both authorities are trusted", lambda port: probe(port, key[new], both) is not None)
        before = {port: probe(port, key[old], both) for port in self.ports()}
        for name, place in (("127.0.0.1.pem", self.places[0]), ("admin.pem", self.places[0])):
            replace(place / name, new.text(name))
        replace(self.places[1] / "node.pem", new.text("admin.pem"))
        self.step("certificates of the new authority", lambda port: probe(port, key[new], both) not in (None, before.get(port)))
        self.give_trust(new.text("ca.pem"))
        self.step("only the new authority is trusted", lambda port: probe(port, key[old], both) is None)
        self.rotations += 1
        self.write_report()

    def run(self):
        self.write_report()
        kept = self.work / "authority-0"
        shutil.copytree(self.places[0], kept)
        old = Authority(self.bin, kept)
        while not self.signals.finish:
            new = Authority(self.bin, self.work / f"authority-{self.rotations + 1}")
            self.rotate(old, new)
            old = new


def main():
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    rotator = Rotator(*sys.argv[1:], Signals())
    try:
        rotator.run()
    except Ended:
        return 0
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        rotator.say(f"FAILED: {error}")
        rotator.write_report(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
