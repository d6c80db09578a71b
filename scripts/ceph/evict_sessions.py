"""Evicts the sessions of one CephFS client name at every active metadata server; see scripts/ceph/evict."""

import json
import os
import sys
import time

import cephfs
import rados


def ask(cluster, command, target=None):
    """The answer to a command of the monitors, or of one metadata server (a name)."""
    body = json.dumps(command)
    left = max(1, int(deadline - time.monotonic()))
    if target is None:
        code, out, err = cluster.mon_command(body, b"", timeout=left)
    else:
        code, out, err = files.mds_command(target, body, b"")
    if code != 0:
        raise RuntimeError(f"{command['prefix']}: {err.strip() or code}")
    return json.loads(out) if out.strip() else None


def active_ranks(cluster):
    """Names of the metadata servers that hold a rank; an error when a rank has none, because its sessions cannot be seen."""
    names = []
    for filesystem in ask(cluster, {"prefix": "fs dump", "format": "json"})["filesystems"]:
        mdsmap = filesystem["mdsmap"]
        holders = {info["rank"]: info for info in mdsmap["info"].values() if info["rank"] >= 0 and info["state"] != "up:standby-replay"}
        for rank in mdsmap["in"]:
            holder = holders.get(rank)
            if holder is None or holder["state"] != "up:active":
                raise RuntimeError(f"rank {rank} of {mdsmap['fs_name']} is {holder['state'] if holder else 'down'}")
            names.append(holder["name"])
    return names


def sessions(cluster, server):
    found = ask(cluster, {"prefix": "session ls", "format": "json"}, server)
    return [each["id"] for each in found
            if each.get("client_metadata", {}).get("entity_id", each.get("entity", {}).get("name", {}).get("num")) == name
            and (only is None or each["id"] == only)]


def evict_all(cluster):
    """True when a look at every rank, after everything that was found was evicted, finds nothing."""
    clean = True
    for server in active_ranks(cluster):
        for session in sessions(cluster, server):
            clean = False
            ask(cluster, {"prefix": "client evict", "filters": [f"id={session}"], "format": "json"}, server)
            print(f"evicted session {session} of client.{name} at mds.{server}", flush=True)
    return clean


conf, name = sys.argv[1:3]
only = int(sys.argv[3]) if len(sys.argv) > 3 else None
deadline = time.monotonic() + int(os.environ.get("CEPH_EVICT_LIMIT", "20"))
last = "no answer"
try:
    with rados.Rados(conffile=conf, name=os.environ.get("CEPH_EVICT_AS", "client.admin"),
                     conf={"client_mount_timeout": "10", "rados_mon_op_timeout": "10", "rados_osd_op_timeout": "10"}) as connected:
        files = cephfs.LibCephFS(rados_inst=connected)
        files.init()  # not mounted: it has no session of its own
        while time.monotonic() < deadline:
            try:
                if evict_all(connected):
                    print(f"client.{name} has no session", flush=True)
                    sys.exit(0)
                continue
            except (RuntimeError, rados.Error, cephfs.Error, KeyError, ValueError) as error:
                last = str(error)
            time.sleep(0.2)
except (rados.Error, cephfs.Error) as error:
    last = str(error)
print(f"ceph/evict: client.{name} is not confirmed as evicted: {last}", file=sys.stderr)
sys.exit(1)
