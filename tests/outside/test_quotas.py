"""Quotas of requests: set at the master, listed from hbase:quota as HBase's clients list them, enforced at the servers."""

import json
import os
import subprocess
import time

from cluster_wire import LATEST, META, PATIENCE, Connection, RemoteError, Table, WireTest, locate, master_address, meta_address
from cluster_wire import region, table_name
from hbase_wire import Cell, message, one, parse
from test_connection import hello

REQUEST_NUMBER, WRITE_NUMBER, READ_NUMBER = 1, 3, 5
SECONDS, HOURS = 4, 6
RATCHET = os.path.join(os.environ.get("RATCHET_BIN", ""), "ratchet")


def master(method, request=()):
    with Connection(*master_address(), "MasterService") as connection:
        return connection.call(method, list(request))[0]


def limit(kind, amount, unit):
    return (7, [(1, kind), (2, [(1, unit), (2, amount)])])


def quotas():
    """{(row, qualifier): fields of the Quotas message} of hbase:quota, by a scan."""
    where = locate(b"hbase:quota", b"")
    with Connection(where.host, where.port, "ClientService") as connection:
        scan = [(1, [(1, b"q")])]
        _, cells = connection.call("Scan", [(1, region(where.name)), (2, scan), (4, 1000), (5, True)])
    found = {}
    for cell in cells:
        if cell.row != b"exceedThrottleQuota":
            assert cell.value[:4] == b"PBUF", cell
            found[cell.row, cell.qualifier] = parse(cell.value[4:])
    return found


class QuotaTest(WireTest):
    def connect_as(self, user, table):
        where = table.region(b"r")
        body = [(1, [(1, user)]), (2, "ClientService"), (3, "org.apache.hadoop.hbase.codec.KeyValueCodec")]
        connection = Connection(where.host, where.port, "", hello=hello("", header=message(body)))
        self.addCleanup(connection.close)
        return where, connection

    def until_throttled(self, attempt):
        """Attempts until one is refused; the refusal, and how many passed."""
        deadline = time.monotonic() + PATIENCE
        passed = 0
        while time.monotonic() < deadline:
            try:
                attempt()
                passed += 1
            except RemoteError as error:
                return error, passed
        self.fail(f"{passed} attempts passed")

    def until_passed(self, attempt):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return attempt()
            except RemoteError as error:
                self.assertEqual(error.simple_name, "RpcThrottlingException", error.trace)
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)  # between looks at a condition with a deadline

    def test_a_quota_is_listed_and_enforced_and_goes(self):
        with Table(b"outside_quota") as table:
            where, ann = self.connect_as("ann", table)
            _, bob = self.connect_as("bob", table)
            write = lambda connection: self.put(connection, where, [Cell(b"r", b"f", b"q", b"v", LATEST)])
            write(ann)
            master("SetQuota", [(1, "ann"), (4, table_name(table.name)), limit(WRITE_NUMBER, 5, HOURS)])
            stored = quotas()[b"u.ann", b"s.outside_quota"]
            timed = parse(one(parse(one(stored, 2)), 3))  # throttle, write_num
            self.assertEqual((one(timed, 1), one(timed, 2)), (HOURS, 5))
            listed = subprocess.run([RATCHET, "--json", "sql", "select within, what, amount, per from quotas where subject = 'user ann'"],
                                    capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(json.loads(listed.stdout), [{"within": "outside_quota", "what": "writes", "amount": 5, "per": "HOURS"}], listed.stderr)

            refusal, _ = self.until_throttled(lambda: write(ann))
            self.assertEqual(refusal.name, "org.apache.hadoop.hbase.quotas.RpcThrottlingException")
            self.assertIn("number of write requests exceeded - wait 1", refusal.trace)
            self.assertRegex(refusal.trace, r"- wait 1[12]mins, \d+sec")
            self.get(ann, where, b"r")  # only writes are limited
            for _ in range(20):
                write(bob)

            before = one(master("SwitchRpcThrottle", [(1, False)]), 1)
            self.assertEqual(before, 1)
            self.assertEqual(one(master("IsRpcThrottleEnabled"), 1, 0), 0)
            self.until_passed(lambda: write(ann))
            self.assertEqual(one(master("SwitchRpcThrottle", [(1, True)]), 1, 0), 0)
            self.until_throttled(lambda: write(ann))

            master("SetQuota", [(1, "ann"), (4, table_name(table.name)), (7, [])])
            self.assertNotIn((b"u.ann", b"s.outside_quota"), quotas())
            self.until_passed(lambda: write(ann))

    def test_a_limit_for_a_second_passes_again(self):
        with Table(b"outside_quota_second") as table:
            where, connection = self.connect_as("cid", table)
            master("SetQuota", [(4, table_name(table.name)), limit(REQUEST_NUMBER, 2, SECONDS)])
            refusal, _ = self.until_throttled(lambda: self.get(connection, where, b"r"))
            self.assertRegex(refusal.trace, r"number of requests exceeded - wait \d+ms")
            self.until_passed(lambda: self.get(connection, where, b"r"))
            master("SetQuota", [(4, table_name(table.name)), (5, True)])
            self.assertNotIn((b"t.outside_quota_second", b"s"), quotas())

    def test_refusals_and_what_is_empty(self):
        self.assertRemote("DoNotRetryIOException", master, "SetQuota", [limit(REQUEST_NUMBER, 2, SECONDS)])
        space = [(4, table_name(b"t")), (8, [(1, [(1, 1 << 30), (2, 3)])])]
        self.assertIn("space", self.assertRemote("DoNotRetryIOException", master, "SetQuota", space).trace)
        self.assertRemote("DoNotRetryIOException", master, "SwitchExceedThrottleQuota", [(1, True)])
        self.assertEqual(one(master("SwitchExceedThrottleQuota", [(1, False)]), 1), 0)
        self.assertEqual(master("GetQuotaStates"), {})
        self.assertEqual(master("GetSpaceQuotaRegionSizes"), {})
        with Connection(*meta_address(), "AdminService") as server:
            self.assertEqual(server.call("GetSpaceQuotaSnapshots", [])[0], {})
        with Connection(*meta_address(), "ClientService") as meta:  # never limited
            meta.call("Get", [(1, region(META)), (2, [(1, b"r")])])
