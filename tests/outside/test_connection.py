"""Finding the cluster, setting up a connection, frames, and what is answered to nonsense."""

import os
import socket
import struct
import time
import unittest

from cluster_wire import (META, Connection, RemoteError, Table, WireTest, address, master_address, meta_address, node,
                          region, run_procedure, table_name, zookeeper)
from hbase_wire import message, numbers, one, parse


def hello(service, header=None, preamble=b"HBas\x00\x50"):
    body = message([(1, [(1, "outside")]), (2, service)]) if header is None else header
    return preamble + struct.pack(">I", len(body)) + body


class FindingTest(WireTest):
    def test_znodes_are_those_that_clients_read(self):
        meta = node("/hbase/meta-region-server")
        self.assertEqual(one(meta, 3), 3, "OPEN")
        self.assertGreater(one(parse(one(meta, 1)), 3), 0, "Java tells servers apart by their start code")
        cluster = one(node("/hbase/hbaseid"), 1).decode()
        with zookeeper() as zk:
            self.assertIn("meta-region-server", zk.children("/hbase"), "Java looks for it in the list")
            self.assertIsNone(zk.data("/hbase/root-region-server"))
            for server in zk.children("/hbase/rs"):
                self.assertEqual(len(server.split(",")), 3)
        with Connection(*master_address(), "ClientMetaService") as registry:
            self.assertEqual(one(registry.call("GetClusterId", [])[0], 1).decode(), cluster)

    def test_registry_without_zookeeper(self):
        for place in (master_address(), meta_address()):
            with Connection(*place, "ClientMetaService") as registry:
                master = one(registry.call("GetActiveMaster", [])[0], 1)
                self.assertEqual(address(master), master_address())
                location = parse(one(registry.call("GetMetaRegionLocations", [])[0], 1))
                self.assertEqual(address(one(location, 2)), meta_address())
                self.assertIn(3, location, "seq_num is required")
                self.assertTrue(registry.call("GetBootstrapNodes", [])[0].get(1))
                entries = [parse(entry) for entry in registry.call("GetMasters", [])[0][1]]
                self.assertEqual(sum(one(entry, 2) for entry in entries), 1, "one is active")

    def test_cluster_id_by_its_own_preamble(self):
        with socket.create_connection(master_address(), timeout=30) as raw:
            raw.sendall(b"Regist")
            answer = b""
            while part := raw.recv(4096):
                answer += part
        header_length = answer[4]
        header = parse(answer[5:5 + header_length])
        self.assertEqual(one(header, 1), 0xFFFFFFFF)
        body = parse(answer[5 + header_length + 1:])
        with Connection(*master_address(), "ClientMetaService") as registry:
            self.assertEqual(one(body, 1), one(registry.call("GetClusterId", [])[0], 1))


class SetUpTest(WireTest):
    def refused(self, bytes_sent):
        """What the server says before it closes the connection."""
        with Connection(*meta_address(), "", hello=bytes_sent) as connection:
            with self.assertRaises(RemoteError) as raised:
                connection.receive()
            self.assertEqual(raised.exception.call, 0xFFFFFFFF, "no call's answer")
            with self.assertRaises((EOFError, ConnectionResetError)):
                connection.receive()
        return raised.exception

    def test_refusals_name_their_reason(self):
        garbage = self.refused(b"GET / HTTP/1.1\r\n\r\n")
        self.assertEqual(garbage.simple_name, "FatalConnectionException")
        self.assertTrue(garbage.trace.startswith("Expected HEADER="), garbage.trace)
        for sent, name in ((hello("ClientService", preamble=b"HBas\x01\x50"), "WrongVersionException"),
                           (hello("ClientService", preamble=b"HBas\x00\x4f"), "BadAuthException"),
                           (hello("NoSuchService"), "UnknownServiceException"),
                           (hello("", header=b""), "EmptyServiceNameException"),
                           (hello("", header=message([(2, "ClientService"), (3, "com.example.Codec")])),
                            "UnsupportedCellCodecException"),
                           (hello("", header=message([(2, "ClientService"), (4, "com.example.Compressor")])),
                            "UnsupportedCompressionCodecException")):
            self.assertEqual(self.refused(sent).simple_name, name)

    def test_header_and_first_request_may_come_in_any_pieces(self):
        with Connection(*meta_address(), "", hello=b"H") as connection:
            frame = message([(1, 7), (3, "Get"), (4, True)])
            body = message([(1, region(META)), (2, [(1, b"\0" * 17), (10, True)])])
            frame = bytes([len(frame)]) + frame + bytes([len(body)]) + body
            rest = hello("ClientService")[1:] + struct.pack(">I", len(frame)) + frame
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in rest:
                connection.socket.sendall(bytes([byte]))
            call, result, _ = connection.receive()
            self.assertEqual(call, 7)
            self.assertEqual(one(parse(one(result, 1)), 3), 0, "the probe row does not exist, and is said not to")

    def test_unknown_method_leaves_the_connection_open(self):
        with Connection(*meta_address(), "ClientService") as connection:
            error = self.assertRemote("DoNotRetryIOException", connection.call, "NoSuchMethod", [])
            self.assertIn("UnsupportedOperationException", error.trace)
            self.assertRemote("DoNotRetryIOException", connection.call, "get", [(1, region(META)), (2, [(1, b"r")])])
            connection.call("Get", [(1, region(META)), (2, [(1, b"r")])])

    def test_missing_required_fields_are_an_error_of_that_call_only(self):
        with Connection(*meta_address(), "ClientService") as connection:
            self.assertRemote("DoNotRetryIOException", connection.call, "Get", [])
            connection.call("Get", [(1, region(META)), (2, [(1, b"r")])])

    def test_calls_are_pipelined_and_each_is_answered_once(self):
        with Connection(*meta_address(), "ClientService") as connection:
            sent = {connection.send("Get", [(1, region(META)), (2, [(1, b"row %d" % i)])]) for i in range(200)}
            self.assertIn(0, sent, "0 is a call's id like any other")
            self.assertEqual({connection.receive()[0] for _ in range(200)}, sent)


class MasterTest(WireTest):
    def call(self, method, request=()):
        with Connection(*master_address(), "MasterService") as master:
            return master.call(method, list(request))[0]

    def test_admin_requests_of_gohbase_and_the_shell(self):
        self.assertEqual(one(self.call("IsMasterRunning"), 1), 1)
        with Table(b"outside_admin", splits=(b"k",), attributes=((b"VERSIONS", b"3"), (b"MADE_UP", b"kept"))) as table:
            names = [one(parse(name), 2) for name in self.call("GetTableNames", [(1, ".*"), (2, False)])[1]]
            self.assertIn(table.name, names)
            schema = parse(self.call("GetTableDescriptors", [(1, table_name(table.name))])[1][0])
            family = parse(one(schema, 3))
            pairs = dict((one(parse(pair), 1), one(parse(pair), 2)) for pair in family[2])
            self.assertEqual((pairs[b"VERSIONS"], pairs[b"MADE_UP"]), (b"3", b"kept"))
            self.assertEqual(one(parse(one(self.call("GetTableState", [(1, table_name(table.name))]), 1)), 1), 0)
            status = parse(one(self.call("GetClusterStatus"), 1))
            for live in status[2]:
                load = parse(one(parse(live), 2))
                for region_load in load.get(5, []):
                    self.assertIn(1, parse(region_load), "region_specifier is required")
            where = table.region(b"z")
            encoded = where.name.split(b".")[-2]
            self.call("MoveRegion", [(1, [(1, 2), (2, encoded)])])
            alter = self.call("GetSchemaAlterStatus", [(1, table_name(table.name))])
            self.assertEqual(one(alter, 1, 0), 0)
        self.assertIn(one(self.call("SetBalancerRunning", [(1, True)]), 1, 0), (0, 1))
        self.call("GetProcedures")
        self.call("GetLocks")

    def test_namespaces(self):
        names = lambda: self.call("ListNamespaces").get(1, [])
        self.assertRemote("NamespaceNotFoundException", self.call, "GetNamespaceDescriptor", [(1, "outside_ns")])
        name = table_name(b"t", b"outside_ns")
        create = lambda: self.run_ddl("CreateTable", [(1, [(1, name), (3, [(1, b"f")])])])
        self.assertRemote("NamespaceNotFoundException", create)
        limit = [(1, b"hbase.namespace.quota.maxtables"), (2, b"1")]
        self.run_ddl("CreateNamespace", [(1, [(1, b"outside_ns"), (2, limit)])])
        self.assertRemote("NamespaceExistException",
                          lambda: self.run_ddl("CreateNamespace", [(1, [(1, b"outside_ns")])]))
        create()
        self.assertEqual(names(), [b"default", b"hbase", b"outside_ns"])
        listed = self.call("ListTableNamesByNamespace", [(1, "outside_ns")])[1]
        self.assertEqual([one(parse(table), 2) for table in listed], [b"t"])
        other = table_name(b"u", b"outside_ns")
        self.assertRemote("QuotaExceededException",
                          lambda: self.run_ddl("CreateTable", [(1, [(1, other), (3, [(1, b"f")])])]))
        self.assertRemote("ConstraintException", lambda: self.run_ddl("DeleteNamespace", [(1, "outside_ns")]))
        self.run_ddl("ModifyNamespace", [(1, [(1, b"outside_ns"), (2, [(1, b"k"), (2, b"v")])])])
        shown = parse(one(self.call("GetNamespaceDescriptor", [(1, "outside_ns")]), 1))
        self.assertEqual([(one(parse(pair), 1), one(parse(pair), 2)) for pair in shown[2]], [(b"k", b"v")])
        self.run_ddl("DisableTable", [(1, name)])
        self.run_ddl("DeleteTable", [(1, name)])
        self.run_ddl("DeleteNamespace", [(1, "outside_ns")])
        self.assertEqual(names(), [b"default", b"hbase"])

    def test_switches_keep_what_was_set(self):
        for set_it, is_it, before in (("SetBalancerRunning", "IsBalancerEnabled", 1),
                                      ("SetNormalizerRunning", "IsNormalizerEnabled", 0),
                                      ("EnableCatalogJanitor", "IsCatalogJanitorEnabled", 1),
                                      ("SetCleanerChoreRunning", "IsCleanerChoreEnabled", 1),
                                      ("SwitchSnapshotCleanup", "IsSnapshotCleanupEnabled", 1)):
            for value in (1 - before, before):
                self.assertEqual(one(self.call(set_it, [(1, value)]), 1, 0), 1 - value, set_it)
                self.assertEqual(one(self.call(is_it), 1, 0), value, is_it)
        self.assertEqual(numbers(self.call("SetSplitOrMergeEnabled", [(1, 0), (2, 1), (3, 0), (3, 1)]), 1), [1, 1])
        self.assertEqual(one(self.call("IsSplitOrMergeEnabled", [(1, 1)]), 1, 0), 0)
        self.assertEqual(numbers(self.call("SetSplitOrMergeEnabled", [(1, 1), (3, 0), (3, 1)]), 1), [0, 0])

    def test_the_cleaner_runs_when_it_is_asked(self):
        self.assertEqual(one(self.call("RunCleanerChore"), 1), 1)
        self.call("SetCleanerChoreRunning", [(1, 0)])
        self.assertEqual(one(self.call("RunCleanerChore"), 1, 0), 0)
        self.call("SetCleanerChoreRunning", [(1, 1)])

    def test_procedures_by_their_signature(self):
        with Table(b"outside_signature") as table:
            flush = [(1, "flush-table-proc"), (2, table.name)]
            snapshot = [(1, "online-snapshot"), (2, "outside_snapshot"), (4, [(1, "table"), (2, table.name)])]
            for asked in (flush, flush + [(4, [(1, "family"), (2, "f")])], snapshot):
                self.assertGreater(one(self.call("ExecProcedure", [(1, asked)]), 1), 0)
                until = time.monotonic() + 60
                while not one(self.call("IsProcedureDone", [(1, asked)]), 1, 0):
                    self.assertLess(time.monotonic(), until, "it is never done")
            self.assertRemote("SnapshotExistsException", self.call, "ExecProcedure", [(1, snapshot)])
            self.call("DeleteSnapshot", [(1, [(1, "outside_snapshot")])])
            missing = flush + [(4, [(1, "family"), (2, "g")])]
            self.assertRemote("NoSuchColumnFamilyException", self.call, "ExecProcedure", [(1, missing)])
            self.assertRemote("DoNotRetryIOException", self.call, "ExecProcedureWithRet", [(1, flush)])
        self.assertRemote("TableNotFoundException", self.call, "ExecProcedure", [(1, flush)])
        for method in ("ExecProcedure", "ExecProcedureWithRet", "IsProcedureDone"):
            self.assertRemote("DoNotRetryIOException", self.call, method, [(1, [(1, "simple_test"), (2, "x")])])

    def test_store_file_trackers(self):
        tracker = b"hbase.store.file-tracker.impl"
        with Table(b"outside_tracker") as table:
            def of_table():
                schema = parse(self.call("GetTableDescriptors", [(1, table_name(table.name))])[1][0])
                return dict((one(parse(pair), 1), one(parse(pair), 2)) for pair in schema[2])[tracker]

            self.assertEqual(of_table(), b"DEFAULT")
            self.run_ddl("ModifyTableStoreFileTracker", [(1, table_name(table.name)), (2, "FILE")])
            self.assertEqual(of_table(), b"FILE")
            self.run_ddl("ModifyColumnStoreFileTracker", [(1, table_name(table.name)), (2, b"f"), (3, "DEFAULT")])
            for name in ("MIGRATION", "org.example.Tracker", ""):
                self.assertRemote("DoNotRetryIOException", self.call, "ModifyTableStoreFileTracker",
                                  [(1, table_name(table.name)), (2, name)])
            self.assertRemote("NoSuchColumnFamilyException", self.call, "ModifyColumnStoreFileTracker",
                              [(1, table_name(table.name)), (2, b"g"), (3, "FILE")])

    def test_log_entries_of_the_balancer(self):
        java = "org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos$"
        for kind in ("BalancerDecisions", "BalancerRejections"):
            entry = self.call("GetLogEntries", [(1, java + kind + "Request"), (2, b"")])
            self.assertEqual((one(entry, 1).decode(), one(entry, 2)), (java + kind + "Response", b""))
        self.assertRemote("DoNotRetryIOException", self.call, "GetLogEntries", [(1, "org.example.Other"), (2, b"")])

    def test_ddl_errors_have_the_class_that_clients_know(self):
        with Table(b"outside_errors") as table:
            self.assertRemote("TableExistsException", lambda: self.run_ddl("CreateTable", [(1, table.schema)]))
            self.assertRemote("TableNotDisabledException",
                              lambda: self.run_ddl("DeleteTable", [(1, table_name(table.name))]))
            self.assertRemote("TableNotDisabledException",
                              lambda: self.run_ddl("EnableTable", [(1, table_name(table.name))]))
        self.assertRemote("TableNotFoundException", lambda: self.run_ddl("DisableTable", [(1, table_name(b"outside_no"))]))
        self.assertRemote("UnknownRegionException", self.call, "MoveRegion", [(1, [(1, 2), (2, b"0" * 32)])])

    @staticmethod
    def run_ddl(method, request):
        run_procedure(method, request)


if __name__ == "__main__":
    if "RATCHET_ZOOKEEPER" not in os.environ:
        raise SystemExit("RATCHET_ZOOKEEPER=host:port names the cluster to check; tests/outside/run starts one")
    unittest.main()
