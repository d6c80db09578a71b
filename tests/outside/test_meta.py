"""hbase:meta as each client line reads it: search keys, listings, columns, states."""

import struct
import unittest

from cluster_wire import META, Connection, Table, WireTest, decode_region_info, meta_address, region, run_procedure, table_name
from hbase_wire import Cell, one, parse

# Keys that plain byte order would sort wrongly among region names: bytes below and above the comma, and commas.
SPLITS = (b"\x00", b"!", b",", b",,", b"a", b"a\x00", b"a,", b"a,b", b"a-", b"b")
NAME = b"outside_meta"


class MetaTest(WireTest):
    @classmethod
    def setUpClass(cls):
        cls.table = Table(NAME, splits=SPLITS)
        cls.enterClassContext(cls.table)

    def setUp(self):
        self.meta = Connection(*meta_address(), "ClientService")
        self.addCleanup(self.meta.close)

    def scan(self, start, stop, rows, *more, families=(b"info",)):
        """[{qualifier: cell}] of each row"""
        scan = [(1, [(1, family)]) for family in families] + [(3, start), (4, stop)] + list(more)
        answer, cells = self.meta.call("Scan", [(1, region(META)), (2, scan), (4, rows), (5, True), (7, True), (8, True)])
        found = {}
        for cell in cells:
            found.setdefault(cell.row, {})[cell.qualifier] = cell
        return list(found.values())

    @staticmethod
    def holds(row, key):
        info = decode_region_info(row[b"regioninfo"].value)
        return info["table"] == NAME and info["start"] <= key and (not info["end"] or key < info["end"])

    def keys(self):
        for split in SPLITS:
            for key in (split, split + b"\x00", split[:-1], split + b",", split + b"\xff", b""):
                yield key

    def test_every_client_finds_the_region_of_a_row(self):
        reverse = (15, True)
        for key in self.keys():
            prefix = NAME + b"," + key + b","
            with self.subTest(key=key):
                java = self.scan(prefix + b"9" * 14, NAME + b",,", 1, reverse, (22, True))
                gohbase = self.scan(prefix + b":", NAME, 1, reverse)
                driver = self.scan(prefix + b":", b"", 10, reverse)
                for row in (java[0], gohbase[0], driver[0]):
                    self.assertTrue(self.holds(row, key), row[b"regioninfo"].row)
                get = [(1, prefix + b":"), (2, [(1, b"info")]), (11, True)]  # asynchbase: closest_row_before
                _, cells = self.meta.call("Get", [(1, region(META)), (2, get)])
                self.assertTrue(self.holds({cell.qualifier: cell for cell in cells}, key))

    def test_listings_are_complete_and_in_the_order_of_keys(self):
        for start, stop in ((NAME + b",,", NAME + b" ,,"), (NAME, NAME + b"."), (NAME + b",," + b"0" * 14, NAME + b" ,,")):
            rows = [row for row in self.scan(start, stop, 100) if b"regioninfo" in row]
            infos = [decode_region_info(row[b"regioninfo"].value) for row in rows]
            self.assertEqual([info["start"] for info in infos], [b"", *SPLITS])
            self.assertEqual([info["end"] for info in infos], [*SPLITS, b""])

    def test_columns_have_the_form_that_clients_parse(self):
        row = self.scan(NAME + b",,", NAME + b" ,,", 1)[0]
        name = row[b"regioninfo"].row
        self.assertRegex(name, rb"^outside_meta,,[0-9]+\.[0-9a-f]{32}\.$")
        host, port = row[b"server"].value.decode().rsplit(":", 1)
        code = struct.unpack(">q", row[b"serverstartcode"].value)[0]
        self.assertEqual(row[b"sn"].value.decode(), f"{host},{port},{code}")
        self.assertEqual(len(row[b"seqnumDuringOpen"].value), 8)
        self.assertEqual(row[b"state"].value, b"OPEN")

    def state(self):
        _, cells = self.meta.call("Get", [(1, region(META)), (2, [(1, NAME), (2, [(1, b"table"), (2, b"state")])])])
        self.assertEqual([cell.qualifier for cell in cells], [b"state"])
        return one(parse(cells[0].value), 1)

    def test_state_of_the_table_and_its_regions_while_disabled(self):
        self.assertEqual(self.state(), 0, "ENABLED")
        run_procedure("DisableTable", [(1, table_name(NAME))])
        try:
            self.assertEqual(self.state(), 1, "DISABLED")
            rows = self.scan(NAME + b",,", NAME + b" ,,", 100)
            self.assertEqual({row[b"state"].value for row in rows}, {b"CLOSED"})
            self.assertTrue(all(row[b"server"].value for row in rows), "clients take an empty server for an error")
            self.assertFalse(any(decode_region_info(row[b"regioninfo"].value)["offline"] for row in rows))
        finally:
            run_procedure("EnableTable", [(1, table_name(NAME))])

    def test_nobody_writes_there_from_outside(self):
        cell = Cell(NAME, b"table", b"state", b"\x08\x01")
        request = [(1, region(META)), (2, [(1, NAME), (2, 2), (8, 1)])]
        self.assertRemote("AccessDeniedException", self.meta.call, "Mutate", request, [cell])
        self.assertEqual(self.state(), 0)


if __name__ == "__main__":
    unittest.main()
