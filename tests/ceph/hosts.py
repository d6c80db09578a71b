"""Three hosts on one machine, as network namespaces: each with a ZooKeeper, a master, a region server, and a mount for each process.

They are joined by a bridge, at which the mini Ceph and the test's own clients are too. Whatever one host sends to another, or to the storage, can
be dropped in one direction or in both. Needs root, iproute2 and iptables.
"""

import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "outside"))

from hbase_wire import RemoteError  # noqa: E402

LIMIT = 120  # seconds; of every wait
NET = "10.213.77."
CLIENTS = NET + "254"  # of the test itself
STORAGE = NET + "253"  # of the mini Ceph's daemons
ZOOKEEPER_JARS = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"
MOUNT_IS_DEAD = 28


def run(*command, check=True, **more):
    return subprocess.run(command, check=check, timeout=LIMIT, capture_output=True, text=True, **more).stdout


def wait_for(what, condition):
    deadline = time.monotonic() + LIMIT
    while True:
        try:
            value = condition()
        except (OSError, EOFError, RemoteError, subprocess.SubprocessError):
            value = None
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"gave up waiting: {what}")
        time.sleep(0.1)


class Network:
    """The bridge and the hosts' namespaces. Their names carry the pid of this test, so that two of them do not meet."""

    def __init__(self, hosts):
        self.hosts = {host: NET + str(number) for number, host in enumerate(hosts, 1)}
        self.bridge = f"rt{os.getpid()}"

    def space(self, host):
        return f"{self.bridge}{host}"

    def up(self):
        run("ip", "link", "add", self.bridge, "type", "bridge")
        for address in (CLIENTS, STORAGE):  # the first one is what the test's clients come from
            run("ip", "address", "add", address + "/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        # A container engine may have left a policy that drops what is forwarded, bridged packets too.
        run("iptables", "-w", "-I", *self.forwarding())
        for host, address in self.hosts.items():
            space, here = self.space(host), self.space(host)
            run("ip", "netns", "add", space)
            run("ip", "link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", here, "master", self.bridge, "up")
            run("ip", "-n", space, "address", "add", address + "/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                run("ip", "-n", space, "link", "set", link, "up")

    def forwarding(self):
        return ["FORWARD", "-i", self.bridge, "-o", self.bridge, "-j", "ACCEPT"]

    def down(self):
        for host in self.hosts:
            run("ip", "netns", "delete", self.space(host), check=False)
        run("iptables", "-w", "-D", *self.forwarding(), check=False)
        run("ip", "link", "delete", self.bridge, check=False)

    def inside(self, host):
        """Only the network is the host's: a mount that is made there is seen everywhere."""
        return ["nsenter", f"--net=/var/run/netns/{self.space(host)}"]

    def drop(self, host, address, directions):
        """Drops what `host` sends ("out") to an address, what it hears from it ("in"), or both ("both")."""
        rules = {"out": [("OUTPUT", "-d")], "in": [("INPUT", "-s")], "both": [("OUTPUT", "-d"), ("INPUT", "-s")]}[directions]
        for chain, side in rules:
            run(*self.inside(host), "iptables", "-w", "-I", chain, side, address, "-j", "DROP")

    def heal(self):
        for host in self.hosts:
            run(*self.inside(host), "iptables", "-w", "-F")

    def dropped(self, host):
        """Packets that the host's rules have dropped so far."""
        shown = run(*self.inside(host), "iptables", "-w", "-nvxL")
        return sum(int(line.split()[0]) for line in shown.splitlines() if " DROP " in line)


class Hosts:
    """The processes of the three hosts. One that has ended is started again by `keep`, on a new mount."""

    def __init__(self, network, binaries, scripts, directory):
        self.network, self.binaries, self.scripts, self.directory = network, binaries, scripts, directory
        self.ceph = os.path.join(directory, "ceph")
        self.quorum = ",".join(f"{address}:2181" for address in network.hosts.values())
        self.running = {}  # name -> (host, role, process)
        self.ends = []     # (name, exit code)
        self.without_storage = set()  # hosts on which nothing can be mounted now

    def log(self, name):
        return open(os.path.join(self.directory, f"{name}.log"), "ab")

    def start_zookeeper(self, number, host):
        place = os.path.join(self.directory, f"zookeeper-{host}")
        os.makedirs(os.path.join(place, "data"))
        with open(os.path.join(place, "zoo.cfg"), "w", encoding="utf-8") as config:
            config.write(f"tickTime=200\ninitLimit=15\nsyncLimit=5\ndataDir={place}/data\nclientPort=2181\nadmin.enableServer=false\n"
                         "4lw.commands.whitelist=*\nminSessionTimeout=400\nmaxSessionTimeout=60000\nmaxClientCnxns=0\n")
            for each, address in enumerate(self.network.hosts.values(), 1):
                config.write(f"server.{each}={address}:2888:3888\n")
        with open(os.path.join(place, "data", "myid"), "w", encoding="utf-8") as own:
            own.write(f"{number}\n")
        with self.log(f"zookeeper-{host}") as log:
            self.running[f"zookeeper-{host}"] = (host, "zookeeper", subprocess.Popen(
                [*self.network.inside(host), "java", "-Xmx128m", "-cp", ZOOKEEPER_JARS,
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", os.path.join(place, "zoo.cfg")], stdout=log, stderr=log))

    def start(self, name, host, role):
        run(*self.network.inside(host), os.path.join(self.scripts, "mount"), "--fresh", "--dir", self.ceph, name)
        root = os.path.join(self.ceph, "mnt", name, "root")
        os.makedirs(root, exist_ok=True)
        command = [*self.network.inside(host), os.path.join(self.binaries, f"ratchet-{role}"), "--root", root, "--zookeeper", self.quorum, "--host",
                   self.network.hosts[host], "--storage-client", name, "--info-port", "-1",
                   "--insecure"]  # the network of this test has no others
        if role == "master":
            command += ["--fence-command", f"{os.path.abspath(self.scripts)}/evict --dir {os.path.abspath(self.ceph)}"]
        with self.log(name) as log:
            self.running[name] = (host, role, subprocess.Popen(command, stdout=log, stderr=log))

    def up(self):
        run(os.path.join(self.scripts, "up"), "--dir", self.ceph, "--address", STORAGE)
        for number, host in enumerate(self.network.hosts, 1):
            self.start_zookeeper(number, host)
        for host, address in self.network.hosts.items():
            wait_for("ZooKeeper listens", lambda address=address: socket.create_connection((address, 2181), 1).close() is None)
        for role, short in (("master", "m"), ("regionserver", "rs")):
            for host in self.network.hosts:
                self.start(f"{short}-{host}", host, role)

    def keep(self):
        """Starts what has ended; the codes are kept."""
        for name, (host, role, process) in list(self.running.items()):
            if role == "zookeeper" or host in self.without_storage or process.poll() is None:
                continue
            self.ends.append((name, process.returncode))
            self.start(name, host, role)

    def down(self):
        for _, _, process in self.running.values():
            process.send_signal(signal.SIGKILL)
        run(os.path.join(self.scripts, "down"), "--dir", self.ceph, check=False)
        for _, _, process in self.running.values():
            process.wait()
