#!/usr/bin/env python3
"""Kills masters and region servers of a local cluster with SIGKILL, one at a time, and starts each again.

Usage: killer.py BIN_DIRECTORY CLUSTER_DIRECTORY SEED REPORT

One kill of the active master, then one to three of region servers, and so on. The victim, how long it stays down (0 to 4 s: with and
without its session running out) and the pause before the next kill come from SEED. A kill begins only when every process runs and the
cluster serves, so another process of the same kind is always there; and it is counted when the cluster serves again with the victim in it.

SIGUSR1 ends the killing after the present victim is back; SIGTERM ends it at once. REPORT has lines "NAME VALUE": masters and servers
(kills), longest (ms until the cluster served again), and, where a deadline passed, failure.
Exit code 0: each victim came back. 1: one did not.
"""
import os
import random
import select
import signal
import subprocess
import sys
import time

DEADLINE_S = 120.0  # for the cluster to serve again; a limit for a hang
COMMAND_S = 90.0    # for one call of ratchet-cluster
LOOK_EVERY_S = 0.25


class Ended(Exception):
    """SIGTERM came."""


class Signals:
    """What has been asked for by signals; a pause ends when one arrives."""

    def __init__(self):
        self.finish = False
        self.stop = False
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_read, False)
        os.set_blocking(self.wake_write, False)
        signal.signal(signal.SIGUSR1, self.on_signal)
        signal.signal(signal.SIGTERM, self.on_signal)

    def on_signal(self, number, _frame):
        if number == signal.SIGTERM:
            self.stop = True
        self.finish = True
        try:
            os.write(self.wake_write, b"x")
        except BlockingIOError:
            pass

    def pause(self, seconds):
        """Raises Ended when SIGTERM has come."""
        if not self.stop and select.select([self.wake_read], [], [], seconds)[0]:
            os.read(self.wake_read, 4096)
        if self.stop:
            raise Ended


class Cluster:
    def __init__(self, bin_directory, directory):
        self.command = os.path.join(bin_directory, "ratchet-cluster")
        self.directory = directory

    def call(self, *words):
        return subprocess.run([self.command, *words, "--dir", self.directory], capture_output=True, text=True, timeout=COMMAND_S,
                              start_new_session=True, check=False)

    def do(self, verb, name):
        done = self.call(verb, name)
        if done.returncode != 0:
            raise RuntimeError(f"ratchet-cluster {verb} {name}: {done.stderr.strip()}")

    def look(self):
        """(names of masters, of region servers, the active master; why the cluster does not serve, "" when it does)."""
        done = self.call("status")
        masters, servers, active, wrong = [], [], "", done.stderr.strip()
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) < 4 or not words[0].startswith(("master-", "rs-")):
                continue
            (masters if words[0].startswith("master-") else servers).append(words[0])
            if words[1] != "up":
                wrong = wrong or f"{words[0]} is {words[1]}"
            if line.endswith("(active)"):
                active = words[0]
        if done.returncode != 0 or not active:
            wrong = wrong or "no active master"
        return masters, servers, active, wrong


class Killer:
    def __init__(self, cluster, seed, report, signals):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.report = report
        self.signals = signals
        self.kills = {"masters": 0, "servers": 0}
        self.longest_ms = 0
        self.began = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.began:8.1f} {text}", flush=True)

    def write_report(self, failure=""):
        lines = [f"{name} {count}" for name, count in self.kills.items()] + [f"longest {self.longest_ms}"]
        if failure:
            lines.append("failure " + " ".join(failure.split()))
        with open(self.report + ".new", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(self.report + ".new", self.report)

    def wait_serving(self):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            masters, servers, active, wrong = self.cluster.look()
            if not wrong:
                return masters, servers, active
            if time.monotonic() >= deadline:
                raise RuntimeError(f"the cluster does not serve {DEADLINE_S:.0f} s later: {wrong}")
            self.signals.pause(LOOK_EVERY_S)

    def kill_one(self, kind):
        masters, servers, active = self.wait_serving()
        # Every draw is made whatever the cluster looks like, so that the choices depend on the seed alone.
        choice, down_s = self.random.random(), self.random.uniform(0.0, 4.0)
        if len(masters if kind == "masters" else servers) < 2:
            raise RuntimeError(f"only one of the {kind}: none is left while it is down")
        victim = active if kind == "masters" else servers[int(choice * len(servers))]
        if self.signals.finish:
            return
        killed_at = time.monotonic()
        self.cluster.do("kill", victim)
        self.signals.pause(down_s)
        self.cluster.do("start", victim)
        self.wait_serving()
        took_ms = int((time.monotonic() - killed_at) * 1000)
        self.kills[kind] += 1
        self.longest_ms = max(self.longest_ms, took_ms)
        role = " (active)" if kind == "masters" else ""
        self.say(f"killed {victim}{role}, started after {down_s:.1f} s, served after {took_ms} ms")
        self.write_report()

    def run(self):
        self.write_report()
        while not self.signals.finish:
            kinds = ["masters"] + ["servers"] * self.random.randint(1, 3)
            for kind in kinds:
                pause_s = self.random.uniform(1.0, 4.0)
                if self.signals.finish:
                    break
                self.signals.pause(pause_s)
                if self.signals.finish:
                    break
                self.kill_one(kind)


def main():
    if len(sys.argv) != 5:
        print(__doc__)
        return 2
    bin_directory, directory, seed, report = sys.argv[1:]
    killer = Killer(Cluster(bin_directory, directory), int(seed), report, Signals())
    try:
        killer.run()
    except Ended:
        return 0
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        killer.say(f"FAILED: {error}")
        killer.write_report(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
