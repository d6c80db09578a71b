"""A cluster of real processes for the checks of the page."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

BIN = os.environ.get("RATCHET_BIN", "")
PATIENCE = 180


def wait_for(what, condition, patience=PATIENCE, every=0.1):
    """Polls until the condition gives something; its last exception is part of the failure."""
    end = time.monotonic() + patience
    last = None
    while time.monotonic() < end:
        try:
            got = condition()
            if got:
                return got
        except Exception as error:  # shown when the time is over
            last = error
        time.sleep(every)
    raise AssertionError(f"not within {patience} s: {what}; last: {last!r}")


class Cluster:
    def __init__(self, *flags):
        self.root = tempfile.mkdtemp(prefix="ratchet-page-")
        self.dir = os.path.join(self.root, "cluster")
        self.tool("up", *flags)
        status = self.tool("status")
        port = next(line.split()[3] for line in status.splitlines() if line.startswith("zookeeper"))
        self.zookeeper = f"127.0.0.1:{port}"

    def tool(self, verb, *arguments):
        done = subprocess.run([os.path.join(BIN, "ratchet-cluster"), verb, *arguments, "--dir", self.dir], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise AssertionError(f"ratchet-cluster {verb} {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def ratchet(self, *arguments, check=True):
        done = subprocess.run([os.path.join(BIN, "ratchet"), "--zookeeper", self.zookeeper, *arguments], capture_output=True, text=True, timeout=PATIENCE * 3)
        if check and done.returncode not in (0, 6):
            raise AssertionError(f"ratchet {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def begin(self, *arguments):
        return subprocess.Popen([os.path.join(BIN, "ratchet"), "--zookeeper", self.zookeeper, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def page(self, process):
        """The address of a process's page, as the newest line of its log tells it."""
        def look():
            with open(os.path.join(self.dir, "logs", process + ".log"), errors="replace") as log:
                found = re.findall(r"Start: page at (http://[\d.]+:\d+)/", log.read())
            return found[-1] if found else None
        return wait_for(f"the page of {process}", look)

    def get(self, process, path):
        try:
            with urllib.request.urlopen(self.page(process) + path, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def view(self, process, path):
        status, text = self.get(process, "/api/v1/" + path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {text}")
        return json.loads(text)

    def masters(self):
        """(active, standby) by name."""
        def look():
            roles = {}
            for name in ("master-1", "master-2"):
                try:
                    roles[self.view(name, "settings")["role"]] = name
                except Exception:
                    pass
            return (roles["active"], roles.get("standby")) if "active" in roles else None
        return wait_for("an active master", look)

    def close(self):
        subprocess.run([os.path.join(BIN, "ratchet-cluster"), "down", "--erase", "--dir", self.dir], capture_output=True, timeout=PATIENCE)
        shutil.rmtree(self.root, ignore_errors=True)
