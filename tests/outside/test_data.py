"""ClientService as HBase's clients use it: rows, versions, deletes, conditions, batches."""

import struct
import time
import unittest

from cluster_wire import LATEST, Connection, Table, WireTest, region
from hbase_wire import DELETE, DELETE_COLUMN, DELETE_FAMILY, DELETE_FAMILY_VERSION, Cell, message, one, parse

FILTERS = "org.apache.hadoop.hbase.filter."
BINARY = FILTERS + "BinaryComparator"
LESS, LESS_OR_EQUAL, EQUAL, NOT_EQUAL, GREATER_OR_EQUAL, GREATER = range(6)


def long(number):
    return struct.pack(">q", number)


class DataTest(WireTest):
    def setUp(self):
        name = ("outside_" + self.id().rsplit(".", 1)[-1]).encode()[:60]
        table = Table(name, families=(b"f", b"g"), splits=(b"m",), attributes=((b"VERSIONS", b"5"),))
        self.enterContext(table)
        self.table = table
        self.where, self.connection = table.connect(b"r")
        self.addCleanup(self.connection.close)

    def write(self, qualifier, value, timestamp=LATEST, family=b"f", row=b"r"):
        return self.put(self.connection, self.where, [Cell(row, family, qualifier, value, timestamp)])

    def read(self, *extra, row=b"r"):
        result, cells = self.get(self.connection, self.where, row, extra)
        self.assertEqual(one(result, 2, 0), len(cells), "associated_cell_count")
        self.assertNotIn(3, result, "exists is for existence_only")
        return [(cell.qualifier, cell.timestamp, cell.value) for cell in cells]

    def versions(self, qualifier=b"q", count=10):
        column = (2, [(1, b"f"), (2, qualifier)])
        return [timestamp for _, timestamp, _ in self.read(column, (6, count))]

    def delete(self, qualifier, kind, timestamp=LATEST, family=b"f"):
        cell = Cell(b"r", family, qualifier, b"", timestamp, kind)
        return self.connection.call("Mutate", [(1, region(self.where.name)), (2, [(1, b"r"), (2, 3), (8, 1)])], [cell])[0]

    def mutate(self, kind, cells, condition=None, extra=()):
        mutation = [(1, cells[0].row), (2, kind), (8, len(cells))] + list(extra)
        request = [(1, region(self.where.name)), (2, mutation)] + ([(3, condition)] if condition else [])
        return self.connection.call("Mutate", request, cells)


class RowTest(DataTest):
    def test_put_and_get_in_both_forms(self):
        self.assertEqual(one(self.write(b"q", b"value", 7), 2), 1, "processed")
        self.assertEqual(self.read(), [(b"q", 7, b"value")])
        _, plain = self.table.connect(b"r", codec=False)
        with plain:
            value = [(1, b"f"), (2, [(1, b"p"), (2, b"plain"), (3, 8)])]
            answer, _ = plain.call("Mutate", [(1, region(self.where.name)), (2, [(1, b"r"), (2, 2), (3, value)])])
            self.assertEqual(one(answer, 2), 1)
            result, block = self.get(plain, self.where, b"r")
            self.assertEqual(block, [], "this connection has no codec: cells travel in the message")
            cells = [parse(cell) for cell in result[1]]
            self.assertEqual([(one(c, 3), one(c, 4), one(c, 6)) for c in cells], [(b"p", 8, b"plain"), (b"q", 7, b"value")])

    def test_existence_probe(self):
        self.write(b"q", b"v")
        for row, exists in ((b"r", 1), (b"r0", 0), (self.where.info["start"] + b"\0" * 17, 0)):
            result, cells = self.get(self.connection, self.where, row, [(10, True), (5, [])])
            self.assertEqual((one(result, 3), cells), (exists, []))

    def test_columns_versions_and_time_ranges(self):
        for timestamp in (10, 20, 30, 40):
            self.write(b"q", b"v%d" % timestamp, timestamp)
        self.write(b"other", b"o", 25, family=b"g")
        self.assertEqual(self.read(), [(b"q", 40, b"v40"), (b"other", 25, b"o")])
        self.assertEqual(self.read((6, 2)), [(b"q", 40, b"v40"), (b"q", 30, b"v30"), (b"other", 25, b"o")])
        self.assertEqual(self.read((2, [(1, b"g")])), [(b"other", 25, b"o")])
        self.assertEqual(self.read((2, [(1, b"f"), (2, b"none")])), [])
        self.assertEqual(self.read((5, [(1, 20), (2, 40)])), [(b"q", 30, b"v30"), (b"other", 25, b"o")], "[from, to)")
        own = (13, [(1, b"f"), (2, [(1, 0), (2, 20)])])
        self.assertEqual(self.read(own), [(b"q", 10, b"v10"), (b"other", 25, b"o")], "a family's own range")
        self.assertEqual(self.read((6, 4), (8, 1), (9, 2)), [(b"q", 20, b"v20")], "store_limit and store_offset")

    def test_every_kind_of_delete(self):
        def again():
            for timestamp in (10, 20, 30):
                self.write(b"q", b"v", timestamp + again.base)
            again.base += 100
            return [timestamp + again.base - 100 for timestamp in (30, 20, 10)]

        again.base = 0
        newest = again()
        self.delete(b"q", DELETE, newest[1])
        self.assertEqual(self.versions(), [newest[0], newest[2]], "one version")
        self.delete(b"q", DELETE)
        self.assertEqual(self.versions(), [newest[2]], "the newest one at LATEST")
        newest = again()
        self.delete(b"q", DELETE_COLUMN, newest[1])
        self.assertEqual(self.versions(), [newest[0]], "all up to a time")
        newest = again()
        self.delete(b"", DELETE_FAMILY_VERSION, newest[1])
        self.assertEqual(self.versions(), [newest[0], newest[2], newest[0] - 100], "a family's cells of one time")
        self.delete(b"", DELETE_FAMILY, newest[1])
        self.assertEqual(self.versions(), [newest[0]], "a family up to a time")
        self.write(b"x", b"kept", 5, family=b"g")
        self.delete(b"", DELETE_FAMILY)
        self.assertEqual(self.read(), [(b"x", 5, b"kept")])
        answer, _ = self.connection.call("Mutate", [(1, region(self.where.name)), (2, [(1, b"r"), (2, 3), (8, 0)])])
        self.assertEqual(one(answer, 2), 1)
        self.assertEqual(self.read(), [], "a delete without cells is of the whole row")
        self.write(b"q", b"back")
        self.assertEqual([value for _, _, value in self.read()], [b"back"], "a put after a delete at LATEST is seen")

    def test_deletes_in_the_message_have_their_own_types(self):
        for kind, left in ((0, [30, 10]), (1, [30]), (2, [30]), (3, [30, 10])):
            self.delete(b"", DELETE_FAMILY)
            base = 1_000_000_000_000_000 * (kind + 1)
            for timestamp in (10, 20, 30):
                self.write(b"q", b"v", base + timestamp)
            where = [(1, b"" if kind >= 2 else b"q"), (3, base + 20), (4, kind)]
            mutation = [(1, b"r"), (2, 3), (3, [(1, b"f"), (2, where)])]
            self.connection.call("Mutate", [(1, region(self.where.name)), (2, mutation)])
            self.assertEqual([t - base for t in self.versions() if t > base], left, f"DeleteType {kind}")

    def test_increment_and_append_answer_the_new_values(self):
        answer, cells = self.mutate(1, [Cell(b"r", b"f", b"n", long(5))])
        self.assertEqual((one(parse(one(answer, 1)), 2), cells[0].value), (1, long(5)))
        _, cells = self.mutate(1, [Cell(b"r", b"f", b"n", long(-7))])
        self.assertEqual(cells[0].value, long(-2))
        _, cells = self.mutate(0, [Cell(b"r", b"f", b"a", b"ab")])
        _, cells = self.mutate(0, [Cell(b"r", b"f", b"a", b"cd")])
        self.assertEqual(cells[0].value, b"abcd")
        answer, cells = self.mutate(0, [Cell(b"r", b"f", b"a", b"e")], extra=[(5, [(1, "_rr_"), (2, b"\0")])])
        self.assertEqual(cells, [], "_rr_ asks for no results")
        nonce = [(9, 4711)]
        for _ in range(2):  # the second is the same request again
            mutation = [(1, b"r"), (2, 1), (8, 1)] + nonce
            request = [(1, region(self.where.name)), (2, mutation), (4, 99)]
            _, cells = self.connection.call("Mutate", request, [Cell(b"r", b"f", b"once", long(1))])
            self.assertEqual(cells[0].value, long(1))
        self.write(b"text", b"abc")
        self.assertRemote("DoNotRetryIOException", self.mutate, 1, [Cell(b"r", b"f", b"text", long(1))])

    def test_cells_expire(self):
        attribute = [(5, [(1, "_ttl"), (2, long(300))])]
        self.mutate(2, [Cell(b"r", b"f", b"short", b"v")], extra=attribute)
        self.write(b"long", b"v")
        deadline = time.monotonic() + 60
        while len(self.read()) != 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual([qualifier for qualifier, _, _ in self.read()], [b"long"])

    def test_flush_and_compaction_change_nothing_that_is_seen(self):
        with Connection(self.where.host, self.where.port, "AdminService") as admin:
            specifier = (1, region(self.where.name))
            for round_number in range(4):
                base = 1000 * round_number
                for timestamp in (10, 20, 30):
                    self.write(b"q", b"%d" % round_number, base + timestamp)
                self.write(b"same", b"first", 5)
                self.write(b"same", b"of round %d" % round_number, 5)
                self.delete(b"q", DELETE, base + 20)
                self.write(b"gone%d" % round_number, b"v", 7, family=b"g")
                self.delete(b"gone%d" % round_number, DELETE_COLUMN, family=b"g")
                seen = self.read((6, 100))
                self.assertIn((b"same", 5, b"of round %d" % round_number), seen, "the last put of one time wins")
                self.assertNotIn(base + 20, self.versions())
                admin.call("FlushRegion", [specifier])
                self.assertEqual(self.read((6, 100)), seen, "flushed")
                if round_number % 2 == 1:
                    admin.call("CompactRegion", [specifier, (2, True)])
                    self.assertEqual(self.read((6, 100)), seen, "compacted")

    def test_bad_requests(self):
        get = lambda row, name=self.where.name, extra=(): self.connection.call(
            "Get", [(1, region(name)), (2, [(1, row)] + list(extra))])
        self.assertRemote("WrongRegionException", get, b"a")
        self.assertRemote("NotServingRegionException", get, b"r", b"outside_none,,1." + b"0" * 32 + b".")
        self.assertRemote("NoSuchColumnFamilyException", get, b"r", self.where.name, [(2, [(1, b"nofamily")])])
        error = self.assertRemote("DoNotRetryIOException", get, b"r", self.where.name,
                                  [(4, [(1, FILTERS + "NoSuchFilter"), (2, message([(1, 1)]))])])
        self.assertIn("NoSuchFilter", error.trace)
        self.assertTrue(error.do_not_retry)
        self.assertRemote("UnknownProtocolException", get, b"r", self.where.name, [(11, True)])
        self.assertRemote("NoSuchColumnFamilyException", self.write, b"q", b"v", LATEST, b"nofamily")


class ConditionTest(DataTest):
    def condition(self, operation, expected, qualifier=b"q", comparator=BINARY):
        serialized = message([(1, [(1, expected)])])
        return [(1, b"r"), (2, b"f"), (3, qualifier), (4, operation), (5, [(1, comparator), (2, serialized)])]

    def try_put(self, operation, expected, **more):
        answer, _ = self.mutate(2, [Cell(b"r", b"f", b"done", b"d")], self.condition(operation, expected, **more))
        self.assertIn(2, answer, "processed is there whether it held or not")
        return bool(one(answer, 2))

    def test_every_operator_compares_expected_with_stored(self):
        self.write(b"q", b"m")
        for operation, low, same, high in ((LESS, True, False, False), (LESS_OR_EQUAL, True, True, False),
                                           (EQUAL, False, True, False), (NOT_EQUAL, True, False, True),
                                           (GREATER_OR_EQUAL, False, True, True), (GREATER, False, False, True)):
            held = tuple(self.try_put(operation, expected) for expected in (b"a", b"m", b"z"))
            self.assertEqual(held, (low, same, high), f"operator {operation}")

    def test_an_empty_value_means_absent(self):
        self.assertTrue(self.try_put(EQUAL, b"", qualifier=b"none"))
        self.assertFalse(self.try_put(NOT_EQUAL, b"", qualifier=b"none"))
        self.assertFalse(self.try_put(EQUAL, b"x", qualifier=b"none"))
        self.assertFalse(self.try_put(NOT_EQUAL, b"x", qualifier=b"none"), "no cell: false, even for not-equal")
        self.write(b"q", b"v")
        self.assertFalse(self.try_put(EQUAL, b""))
        self.assertTrue(self.try_put(NOT_EQUAL, b""))

    def test_a_failed_condition_changes_nothing(self):
        self.write(b"q", b"1")
        self.assertFalse(self.try_put(EQUAL, b"2"))
        self.assertEqual([qualifier for qualifier, _, _ in self.read()], [b"q"])

    def test_other_comparators_work_or_are_refused_by_name(self):
        self.write(b"q", b"prefix-rest")
        self.assertTrue(self.try_put(EQUAL, b"prefix", comparator=FILTERS + "BinaryPrefixComparator"))
        error = self.assertRemote("DoNotRetryIOException", lambda: self.try_put(
            EQUAL, b"x", comparator=FILTERS + "BigDecimalComparator"))
        self.assertIn("BigDecimalComparator", error.trace)


class MultiTest(DataTest):
    def setUp(self):
        super().setUp()
        self.low, connection = self.table.connect(b"a")
        self.addCleanup(connection.close)

    def multi(self, actions, cells):
        """actions: [(region name, [(index, kind, payload)], extra fields of the region action)]"""
        request = []
        for name, group, extra in actions:
            parts = [(3, [(1, index), (kind, body)]) for index, kind, body in group]
            request.append((1, [(1, region(name))] + list(extra) + parts))
        return self.connection.call("Multi", request, cells)

    @staticmethod
    def put_of(row, count=1):
        return [(1, row), (2, 2), (8, count)]

    def test_puts_and_gets_together(self):
        self.write(b"old", b"stored")
        answer, cells = self.multi(
            [(self.where.name, [(1, 2, self.put_of(b"s")), (2, 3, [(1, b"r")]), (3, 2, self.put_of(b"t")),
                                (4, 3, [(1, b"rabsent")])], [])],
            [Cell(b"s", b"f", b"q", b"1"), Cell(b"t", b"f", b"q", b"2")])
        results = [parse(entry) for entry in parse(answer[1][0])[1]]
        self.assertEqual(sorted(one(entry, 1) for entry in results), [1, 2, 3, 4])
        taken = 0
        for entry in results:
            self.assertTrue((2 in entry) != (3 in entry), "exactly one of result and exception")
            count = one(parse(one(entry, 2)), 2, 0)
            if one(entry, 1) == 2:
                self.assertEqual([cell.value for cell in cells[taken:taken + count]], [b"stored"])
            else:
                self.assertEqual(count, 0)
            taken += count
        self.assertEqual(taken, len(cells), "the block is used up exactly")

    def test_results_of_increments_come_in_the_order_of_the_answer(self):
        group = [(index, 2, [(1, b"r"), (2, 1 if index % 2 else 0), (8, 1)]) for index in range(1, 7)]
        group.append((7, 3, [(1, b"r"), (2, [(1, b"g")])]))
        cells = [Cell(b"r", b"f", b"c%d" % i, long(i) if i % 2 else b"text%d" % i) for i in range(1, 7)]
        self.write(b"read", b"by the get", family=b"g")
        answer, found = self.multi([(self.where.name, group, [])], cells)
        for entry in (parse(entry) for entry in parse(answer[1][0])[1]):
            count = one(parse(one(entry, 2)), 2, 0)
            self.assertEqual(count, 1)
            cell, found = found[0], found[1:]
            index = one(entry, 1)
            expected = (b"by the get" if index == 7 else cells[index - 1].value)
            self.assertEqual(cell.value, expected, f"action {index}")

    def test_each_action_and_each_region_fails_by_itself(self):
        answer, _ = self.multi(
            [(self.where.name, [(1, 2, self.put_of(b"s")), (2, 2, self.put_of(b"a"))], []),
             (b"outside_none,,1." + b"0" * 32 + b".", [(3, 2, self.put_of(b"x"))], []),
             (self.where.name, [(4, 2, self.put_of(b"u")), (5, 2, self.put_of(b"v"))], [])],
            [Cell(b"s", b"f", b"q", b"1"), Cell(b"a", b"f", b"q", b"outside the region"), Cell(b"x", b"f", b"q", b"1"),
             Cell(b"u", b"nofamily", b"q", b"1"), Cell(b"v", b"f", b"q", b"1")])
        first, second, third = (parse(entry) for entry in answer[1])
        name = lambda fields, number: one(parse(one(fields, number)), 1).decode().rsplit(".", 1)[-1]
        good, bad = sorted((parse(entry) for entry in first[1]), key=lambda entry: one(entry, 1))
        self.assertIn(2, good)
        self.assertEqual(name(bad, 3), "WrongRegionException")
        self.assertTrue(one(parse(one(bad, 3)), 2), "Java takes a missing value for 'no exception'")
        self.assertEqual((name(second, 2), second.get(1)), ("NotServingRegionException", None))
        bad, good = sorted((parse(entry) for entry in third[1]), key=lambda entry: one(entry, 1))
        self.assertEqual(name(bad, 3), "NoSuchColumnFamilyException")
        self.assertIn(2, good)
        self.assertEqual(self.read(row=b"v")[0][2], b"1")

    def test_atomic_group_is_all_or_nothing(self):
        group = [(1, 2, self.put_of(b"r")), (2, 2, [(1, b"r"), (2, 3), (8, 1)])]
        self.write(b"gone", b"v")
        answer, _ = self.multi([(self.where.name, group, [(2, True)])],
                               [Cell(b"r", b"f", b"new", b"v"), Cell(b"r", b"f", b"gone", b"", LATEST, DELETE_COLUMN)])
        self.assertEqual(one(parse(answer[1][0]), 3), 1, "processed")
        self.assertEqual([qualifier for qualifier, _, _ in self.read()], [b"new"])
        answer, _ = self.multi([(self.where.name, [(1, 2, self.put_of(b"r")), (2, 2, self.put_of(b"r"))], [(2, True)])],
                               [Cell(b"r", b"f", b"half", b"v"), Cell(b"r", b"nofamily", b"q", b"v")])
        self.assertIn(2, parse(answer[1][0]), "the whole group fails")
        self.assertEqual([qualifier for qualifier, _, _ in self.read()], [b"new"])

    def test_atomic_group_under_a_condition(self):
        self.write(b"q", b"1")
        for expected, held in ((b"2", 0), (b"1", 1)):
            serialized = message([(1, [(1, expected)])])
            condition = [(1, b"r"), (2, b"f"), (3, b"q"), (4, EQUAL), (5, [(1, BINARY), (2, serialized)])]
            answer, _ = self.multi([(self.where.name, [(1, 2, self.put_of(b"r"))], [(2, True), (4, condition)])],
                                   [Cell(b"r", b"f", b"set", b"v")])
            self.assertEqual(one(parse(answer[1][0]), 3), held)
            self.assertEqual(len(self.read()), 1 + held)


if __name__ == "__main__":
    unittest.main()
