"""A server that is cut off from CephFS and from the master, but not from its clients: evicted, fenced, replaced. Does it go on answering?

Usage: zombie_reads.py BIN CLUSTER-DIR SCRIPTS     (a cluster of `ratchet-cluster up --storage ceph --masters 1`, with nothing in it)
RATCHET_MUTANT, if set, is for the one server that is cut off. One client keeps reading a row from it over one connection; another writes the row
anew once the region is open elsewhere. A read that began after that write was acknowledged and returns the old value is stale.
Prints "stale N of M reads"; exit code 0 when N is 0, 1 when not, 2 when it could not be tried.
"""

import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outside"))

GROUP = 49999  # of the server that is cut off, for its packets
PATIENCE = 120


def processes(directory):
    """name -> (role, port, pid)"""
    found = {}
    with open(os.path.join(directory, "cluster.state"), encoding="utf-8") as state:
        for line in state:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "process":
                found[fields[1]] = (fields[2], int(fields[3]), int(fields[4]))
    return found


def run(*command, **more):
    return subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True, text=True, **more).stdout


def where_is(ratchet, row):
    """(encoded name of the row's region, port of its server)"""
    shown = dict(line.split(":", 1) for line in run(*ratchet, "locate", "zombie", row).splitlines() if ":" in line)
    return shown["region"].strip(), int(shown["server"].split(",")[1])


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.05)


def expire(zk, path):
    """Deletes a node whatever its version; then the master takes the server for dead."""
    import struct
    zk.xid += 1
    name = path.encode()
    zk._send(struct.pack(">iii", zk.xid, 2, len(name)) + name + struct.pack(">i", -1))
    if struct.unpack_from(">i", zk._receive(), 12)[0] != 0:
        raise OSError(f"cannot delete {path}")


class Reader(threading.Thread):
    """Keeps reading one row of a region over one connection, until it fails or is stopped."""

    def __init__(self, port, encoded, row):
        super().__init__(daemon=True)
        self.port, self.encoded, self.row = port, encoded, row
        self.reads = []  # (begun, value)
        self.end = None
        self.stopping = False

    def run(self):
        try:
            with Connection("127.0.0.1", self.port, "ClientService") as connection:
                while not self.stopping:
                    begun = time.monotonic()
                    _, cells = connection.call("Get", [(1, [(1, 2), (2, self.encoded)]), (2, [(1, self.row)])])
                    self.reads.append((begun, cells[0].value))
        except (OSError, EOFError, RemoteError) as error:
            self.end = error


def main(binaries, directory, scripts):
    known = processes(directory)
    zookeeper_port = next(port for role, port, _ in known.values() if role == "zookeeper")
    master_port = next(port for role, port, _ in known.values() if role == "master")
    victim = next(name for name, (role, _, _) in known.items() if role == "regionserver")
    port = known[victim][1]
    ceph = os.path.join(directory, "ceph")
    places = ["--zookeeper", f"127.0.0.1:{zookeeper_port}"]
    ratchet = [os.path.join(binaries, "ratchet"), *places, "-q"]

    def names():
        with zookeeper() as zk:
            return [name for name in zk.children("/hbase/rs") or [] if name.split(",")[1] == str(port)]
    # The one server is started again under a group of its own. ZooKeeper may have its earlier name until that session ends.
    before = names()
    if known[victim][2] != 0:
        run(os.path.join(binaries, "ratchet-cluster"), "--dir", directory, "kill", victim)
    run(os.path.join(scripts, "mount"), "--fresh", "--dir", ceph, victim)
    log = open(os.path.join(directory, "logs", f"{victim}-cut.log"), "ab")
    server = subprocess.Popen(
        ["setpriv", "--regid", str(GROUP), "--clear-groups", os.path.join(binaries, "ratchet-regionserver"), *places, "--host", "127.0.0.1",
         "--port", str(port), "--root", os.path.join(ceph, "mnt", victim, "root"), "--storage-client", victim, "--sync-timeout-ms", "0",
         "--start-again", "false", "--zk-session-ms", "60000"], stdout=log, stderr=log)
    drop = ["OUTPUT", "-p", "tcp", "-m", "owner", "--gid-owner", str(GROUP), "--dport", str(master_port), "-j", "DROP"]
    reader = None
    try:
        def own():
            return [name for name in names() if name not in before]
        wait_for("the server registers", own)
        if "zombie" not in run(*ratchet, "list"):
            run(*ratchet, "create", "zombie", "f")
        run(*ratchet, "put", "zombie", "row", "f:q=old")
        encoded, at = where_is(ratchet, "row")
        if at != port:
            # No order to the server before its master has taken it, whichever of the two was first.
            wait_for("the region is moved to it", lambda: subprocess.run(
                [*ratchet, "move", encoded, f"127.0.0.1:{port}"], capture_output=True, timeout=PATIENCE).returncode == 0)
        if where_is(ratchet, "row")[1] != port:
            raise RuntimeError("the region is not on the server that is to be cut off")
        reader = Reader(port, encoded, "row")
        reader.start()
        wait_for("reads", lambda: len(reader.reads) > 20)
        run(os.path.join(scripts, "cut"), "--dir", ceph, victim)
        run("iptables", "-w", "-I", *drop)
        with zookeeper() as zk:
            expire(zk, "/hbase/rs/" + own()[0])
        wait_for("the region is open elsewhere", lambda: where_is(ratchet, "row")[1] != port)
        run(*ratchet, "put", "zombie", "row", "f:q=new")
        written = time.monotonic()
        time.sleep(10)  # for the reader, not for a condition: what it reads meanwhile is the finding
        later = [value for begun, value in reader.reads if begun > written]
        stale = later.count(b"old")
        alive = "still connected" if reader.end is None else f"ended: {reader.end}"
        print(f"stale {stale} of {len(later)} reads that began after the new value was acknowledged; {len(reader.reads)} in all; the reader {alive}")
        return 1 if stale else 0
    finally:
        if reader is not None:
            reader.stopping = True
        for command in ([os.path.join(scripts, "cut"), "--dir", ceph, "--heal", victim], ["iptables", "-w", "-D", *drop]):
            subprocess.run(command, capture_output=True, timeout=PATIENCE)
        server.kill()
        server.wait()
        log.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    os.environ["RATCHET_ZOOKEEPER"] = "127.0.0.1:" + str(next(
        port for role, port, _ in processes(sys.argv[2]).values() if role == "zookeeper"))
    from cluster_wire import Connection, RemoteError, zookeeper
    try:
        sys.exit(main(*sys.argv[1:]))
    except (RuntimeError, TimeoutError, subprocess.SubprocessError) as error:
        print(f"zombie_reads: {error}: {getattr(error, 'stderr', '')}", file=sys.stderr)
        sys.exit(2)
