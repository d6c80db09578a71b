"""The upgrade and the way back: see tests/upgrade/run.

The programs of the cluster are in a directory of its own; a program is replaced there, and each process that starts from then on is of the
other version: those that chaos kills and starts again, and those that are left over afterwards, which this program kills by name.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

PATIENCE = 120
ROWS = 5_000
MASTER, SERVER = "ratchet-master", "ratchet-regionserver"


def say(text):
    print(f"upgrade: {time.monotonic() - BEGAN:.0f}s {text}", flush=True)


def fail(text):
    raise SystemExit(f"upgrade: FAILED: {text}")


class Cluster:
    def __init__(self, arguments):
        self.new, self.old = pathlib.Path(arguments.bin), pathlib.Path(arguments.released)
        self.work = pathlib.Path(arguments.work)
        self.seconds, self.seed = arguments.seconds, arguments.seed
        self.choice = random.Random(arguments.seed)
        self.bin, self.dir = self.work / "bin", self.work / "cluster"
        self.bin.mkdir()
        self.installed = {}
        for name in ("ratchet", "ratchet-cluster", "ratchet-chaos", "ratchet-wal"):
            shutil.copy(self.new / name, self.bin / name)
        for name in self.new.iterdir():  # what chaos preloads
            if name.suffix == ".so":
                shutil.copy(name, self.bin / name.name)

    def install(self, program, source):
        """Processes that start from now on are of `source`. ratchet-cluster gives them a flag that the release does not know."""
        self.installed[program] = source / program
        wrapper = self.bin / (program + ".next")
        wrapper.write_text("#!/bin/bash\n"
                           "arguments=()\n"
                           "while [ $# -gt 0 ]; do\n"
                           f"  if [ \"$1\" = --info-port ] && [ {int(source == self.old)} = 1 ]; then shift 2; else arguments+=(\"$1\"); shift; fi\n"
                           "done\n"
                           f"exec {source / program} \"${{arguments[@]}}\"\n")
        wrapper.chmod(0o755)
        os.replace(wrapper, self.bin / program)

    def run(self, *command, log=None, check=True, errors=subprocess.STDOUT):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=errors, text=True, timeout=900)
        if log:
            (self.work / log).write_text(done.stdout)
        if check and done.returncode != 0:
            fail(f"'{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stdout[-4000:]}")
        return done

    def cluster(self, *words):
        # Without an active master `status` fails with a message, and still lists the processes.
        return self.run(self.bin / "ratchet-cluster", *words, "--dir", self.dir, check=words[0] != "status").stdout

    def processes(self):
        """Name and pid of each master and region server."""
        found = {}
        for line in self.cluster("status").splitlines():
            words = line.split()
            if len(words) > 3 and (words[0].startswith("master-") or words[0].startswith("rs-")):
                found[words[0]] = words[2]
        return found

    def ratchet(self, *words, **options):
        status = self.cluster("status")
        port = next(line.split()[3] for line in status.splitlines() if line.startswith("zookeeper"))
        return self.run(self.bin / "ratchet", "--zookeeper", f"127.0.0.1:{port}", *words, **options)

    def behind(self, program):
        """Processes that run another file than the one that is installed."""
        kind = "master-" if program == MASTER else "rs-"
        left = []
        for name, pid in self.processes().items():
            if name.startswith(kind) and not os.path.samefile(f"/proc/{pid}/exe", self.installed[program]):
                left.append(name)
        return left

    def wait_green(self):
        until = time.monotonic() + PATIENCE
        while True:
            status = self.ratchet("--json", "status", check=False, errors=subprocess.DEVNULL)
            if status.returncode == 0:
                told = json.loads(status.stdout)
                # A master that is not yet active shows its role only.
                if len(told.get("live_servers", [])) == 3 and told["regions"] == told["regions_open"] \
                        and told["procedures_unfinished"] == 0:
                    return
            if time.monotonic() > until:
                fail(f"the cluster does not come to rest:\n{status.stdout}")
            time.sleep(0.5)

    def chaos(self, what):
        seed = self.choice.randrange(1, 1 << 30)
        say(f"{what}: {self.seconds} s of load and kills, seed {seed}")
        log = f"chaos-{what.replace(' ', '-')}.log"
        self.run(self.bin / "ratchet-chaos", "--target", "running", "--dir", self.dir, "--workloads", "registers,lists,bank,ddl",
                 "--faults", "kill-server,kill-active-master,kill-standby,kill-meta-holder", "--period", "3000",
                 "--duration", str(self.seconds * 1000), "--seed", str(seed), "--bundle", self.work / "bundle", log=log)

    def replace(self, program, source, what):
        self.install(program, source)
        self.chaos(what)
        left = self.behind(program)
        self.choice.shuffle(left)
        for name in left:
            self.cluster("kill", name)
            self.cluster("start", name)
            self.wait_green()
        if self.behind(program):
            fail(f"{self.behind(program)} are not of the version that is installed")
        self.wait_green()
        self.check_rows(what)

    def check_rows(self, when):
        count = int(json.loads(self.ratchet("--json", "count", "kept").stdout)["rows"])
        if count != ROWS:
            fail(f"{when}: {count} rows of {ROWS}")
        say(f"{when}: {count} rows, none missing; servers: {', '.join(self.versions())}")

    def versions(self):
        return sorted({server["version"] for server in json.loads(self.ratchet("--json", "servers").stdout)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("released")
    parser.add_argument("work")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 30))
    parser.add_argument("--seconds", type=int, default=20)
    arguments = parser.parse_args()
    say(f"seed {arguments.seed}")
    cluster = Cluster(arguments)
    cluster.install(MASTER, cluster.old)
    cluster.install(SERVER, cluster.old)
    cluster.cluster("up")
    cluster.ratchet("create", "kept", "f", "--regions", "6")
    data = cluster.work / "rows.tsv"
    data.write_text("".join(f"{i:08x}\t{i}\n" for i in range(ROWS)))
    cluster.ratchet("import", "kept", data, "--columns", "row,f:q")
    cluster.check_rows("the release")
    cluster.replace(MASTER, cluster.new, "masters of this tree, servers of the release")
    cluster.replace(SERVER, cluster.new, "all of this tree")
    cluster.ratchet("snapshot", "kept", "before")
    cluster.replace(SERVER, cluster.old, "servers of the release again")
    cluster.replace(MASTER, cluster.old, "everything of the release again")
    cluster.replace(MASTER, cluster.new, "masters of this tree once more")
    say("PASS")


BEGAN = time.monotonic()
main()
