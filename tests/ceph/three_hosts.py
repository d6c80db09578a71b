"""Three hosts as network namespaces on one mini Ceph, cut from each other and from the storage, in one direction and in both.

Usage: three_hosts.py BIN SCRIPTS DIRECTORY
After each cut the cluster must serve all regions again, without the host that is cut off; no read from a server that was cut off, begun after a later
value was acknowledged, may return the earlier one; and at the end each acknowledged row is there. Exit code 0: so it is. 1: it is not.
"""

import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outside"))

from hbase_wire import Cell, Connection, RemoteError  # noqa: E402
from hosts import LIMIT, STORAGE, Hosts, Network, run, wait_for  # noqa: E402

TABLE = "hosts"
REGIONS = 9


class Client:
    """Puts and gets of one row, at the server that `ratchet locate` names; asks again when that fails."""

    def __init__(self, ratchet, row):
        self.ratchet, self.row = ratchet, row
        self.connection = None

    def locate(self):
        shown = run(*self.ratchet, "locate", TABLE, self.row)
        found = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
        host, port = found["server"].split(",")[:2]
        return found["region"].strip(), host.strip(), int(port)

    def open(self):
        encoded, host, port = self.locate()
        self.connection = Connection(host, port, "ClientService")
        self.connection.socket.settimeout(3)
        return encoded

    def value(self):
        """Of the row, as a number; 0 when there is none. A balancer may move the region away meanwhile."""
        def look():
            encoded = self.open()
            _, cells = self.connection.call("Get", [(1, [(1, 2), (2, encoded)]), (2, [(1, self.row)])])
            self.close()
            return cells or [Cell(b"", b"", b"", b"0")]
        return int(wait_for(f"row {self.row} is read", look)[0].value)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Writer(threading.Thread):
    """Writes rising numbers into one row. `acknowledged`: the last one, and when its answer came."""

    def __init__(self, ratchet, row):
        super().__init__(daemon=True)
        self.client, self.row = Client(ratchet, row), row
        self.acknowledged = (0, time.monotonic())
        self.longest_gap = 0.0
        self.stopping = False

    def run(self):
        number, encoded = 0, None
        while not self.stopping:
            number += 1
            try:
                encoded = encoded or self.client.open()
                cell = Cell(self.row.encode(), b"f", b"q", str(number).encode(), number)  # a late write never hides a newer one
                self.client.connection.call("Mutate", [(1, [(1, 2), (2, encoded)]), (2, [(1, cell.row), (2, 2), (8, 1)])], [cell])
                now = time.monotonic()
                self.longest_gap = max(self.longest_gap, now - self.acknowledged[1])
                self.acknowledged = (number, now)
            except (OSError, EOFError, RemoteError, KeyError, ValueError, subprocess.SubprocessError):
                self.client.close()
                encoded = None
                time.sleep(0.1)  # until it asks again where the region is
        self.client.close()


class Reader(threading.Thread):
    """Keeps reading one row from the server that had it, also when that server has been cut off."""

    def __init__(self, writer, at):
        super().__init__(daemon=True)
        self.writer, self.at = writer, at
        self.reads = self.stale = 0
        self.stopping = False

    def run(self):
        encoded, host, port = self.at
        while not self.stopping:
            try:
                with Connection(host, port, "ClientService") as connection:
                    connection.socket.settimeout(3)
                    while not self.stopping:
                        expected, _ = self.writer.acknowledged
                        _, cells = connection.call("Get", [(1, [(1, 2), (2, encoded)]), (2, [(1, self.writer.row)])])
                        self.reads += 1
                        self.stale += (int(cells[0].value) if cells else 0) < expected
            except (OSError, EOFError, RemoteError, ValueError):
                time.sleep(0.2)


class Trial:
    def __init__(self, network, hosts, ratchet, writers):
        self.network, self.hosts, self.ratchet, self.writers = network, hosts, ratchet, writers
        self.failed = []

    def serving(self, without=""):
        """All regions are open, none on the host that is cut off."""
        self.hosts.keep()
        gone = self.network.hosts.get(without, "none")
        regions = json.loads(run(*self.ratchet, "regions", TABLE, "--json"))
        return len(regions) == REGIONS and all(
            each["state"] == "OPEN" and each["server"] and each["server"].split(",")[0] != gone for each in regions)

    def servers(self):
        return sum(each["state"] == "ONLINE" for each in json.loads(run(*self.ratchet, "servers", "--json")))

    def cut(self, what, host, cuts):
        """cuts: (host, address, directions) to drop; `host` is the one whose server must lose its regions, or empty."""
        began = time.monotonic()
        readers = []
        for writer in self.writers:
            at = Client(self.ratchet, writer.row).locate()
            if host and at[1] == self.network.hosts[host]:
                readers.append(Reader(writer, at))
        for reader in readers:
            reader.start()
        self.hosts.without_storage = {one for one, address, _ in cuts if address == STORAGE}
        for one, address, directions in cuts:
            self.network.drop(one, address, directions)
        wait_for("a packet is dropped", lambda: sum(self.network.dropped(each) for each in self.network.hosts) > 0)
        before = [writer.acknowledged[0] for writer in self.writers]
        wait_for(f"{what}: all regions are served", lambda: self.serving(host))
        served = time.monotonic() - began
        wait_for(f"{what}: every writer goes on", lambda: all(
            writer.acknowledged[0] > was for writer, was in zip(self.writers, before)))
        written = time.monotonic() - began
        time.sleep(3)  # for the readers, not for a condition: what they read meanwhile is the finding
        self.network.heal()
        self.hosts.without_storage = set()
        for reader in readers:
            reader.stopping = True
            reader.join(LIMIT)
        wait_for(f"{what}: the cluster is whole again", lambda: self.serving() and self.servers() == 3)
        reads, stale = sum(reader.reads for reader in readers), sum(reader.stale for reader in readers)
        print(f"{what}: all regions open again after {served:.1f} s, written again after {written:.1f} s; {stale} of {reads} reads from the cut-off host are stale", flush=True)
        if stale:
            self.failed.append(what)


def main(binaries, scripts, directory):
    network = Network(["a", "b", "c"])
    hosts = Hosts(network, binaries, scripts, directory)
    ratchet = [os.path.join(binaries, "ratchet"), "--zookeeper", hosts.quorum, "-q"]
    writers = []
    try:
        network.up()
        hosts.up()
        wait_for("the cluster serves", lambda: hosts.keep() or run(*ratchet, "list"))
        run(*ratchet, "create", TABLE, "f", "--split-keys", ",".join(str(number) for number in range(1, REGIONS)))
        trial = Trial(network, hosts, ratchet, writers)
        wait_for("three servers", lambda: trial.servers() == 3)
        run(*ratchet, "balance")
        wait_for("all regions are open", trial.serving)
        writers += [Writer(ratchet, str(number)) for number in range(REGIONS)]
        for writer in writers:
            writer.start()
        wait_for("every writer has an answer", lambda: all(writer.acknowledged[0] for writer in writers))
        a, b, c = network.hosts.values()
        trial.cut("c cut from a and b, both directions", "c", [("c", a, "both"), ("c", b, "both")])
        trial.cut("what c sends to a and b is dropped", "c", [("c", a, "out"), ("c", b, "out")])
        trial.cut("what a and b send to c is dropped", "c", [("c", a, "in"), ("c", b, "in")])
        trial.cut("b cut from the storage, both directions", "b", [("b", STORAGE, "both")])
        trial.cut("what b sends to the storage is dropped", "b", [("b", STORAGE, "out")])
        trial.cut("c cut from everything", "c", [("c", a, "both"), ("c", b, "both"), ("c", STORAGE, "out")])
        for writer in writers:
            writer.stopping = True
        for writer in writers:
            writer.join(LIMIT)
        lost = sum(writer.client.value() < writer.acknowledged[0] for writer in writers)
        total = sum(writer.acknowledged[0] for writer in writers)
        print(f"{total} values written; {lost} of {len(writers)} rows are behind their last acknowledged value; longest gap of a writer "
              f"{max(writer.longest_gap for writer in writers):.1f} s; ended and started again: {hosts.ends}", flush=True)
        return 1 if lost or trial.failed else 0
    finally:
        for writer in writers:
            writer.stopping = True
        network.heal()
        hosts.down()
        network.down()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
