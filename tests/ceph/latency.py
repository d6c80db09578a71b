"""How long a put and a get take over one connection. Usage: latency.py BIN CLUSTER-DIR [N]; prints p50 and p99 in milliseconds.

One client, one operation at a time, values of 100 bytes, rows in memory: what the storage adds to each operation.
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outside"))

from hbase_wire import Cell, Connection  # noqa: E402
from zombie_reads import processes  # noqa: E402


def show(what, seconds):
    seconds.sort()
    print(f"{what:5} p50 {seconds[len(seconds) // 2] * 1000:.2f} ms, p99 {seconds[len(seconds) * 99 // 100] * 1000:.2f} ms ({len(seconds)})")


def timed(operation, times):
    seconds = []
    for number in range(times):
        begun = time.monotonic()
        operation(number)
        seconds.append(time.monotonic() - begun)
    return seconds


def main(binaries, directory, times=500):
    zookeeper = next(port for role, port, _ in processes(directory).values() if role == "zookeeper")
    ratchet = [os.path.join(binaries, "ratchet"), "--zookeeper", f"127.0.0.1:{zookeeper}", "-q"]

    def run(*words):
        return subprocess.run([*ratchet, *words], check=True, capture_output=True, text=True, timeout=60).stdout
    if "latency" not in run("list"):
        run("create", "latency", "f")
    found = dict(line.split(":", 1) for line in run("locate", "latency", "row").splitlines() if ":" in line)
    region = [(1, 2), (2, found["region"].strip())]
    with Connection("127.0.0.1", int(found["server"].split(",")[1]), "ClientService") as connection:
        def put(number):
            cell = Cell(f"row{number}".encode(), b"f", b"q", b"x" * 100)
            connection.call("Mutate", [(1, region), (2, [(1, cell.row), (2, 2), (8, 1)])], [cell])

        def get(number):
            connection.call("Get", [(1, region), (2, [(1, f"row{number}")])])
        timed(put, 50)
        show("put", timed(put, int(times)))
        show("get", timed(get, int(times)))


if __name__ == "__main__":
    main(*sys.argv[1:])
