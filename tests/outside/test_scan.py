"""The life of a scanner as HBase's clients see it."""

import unittest

from cluster_wire import Table, WireTest, region, run_procedure, table_name
from hbase_wire import Cell, numbers, one, parse

ROWS = [b"row%02d" % i for i in range(10)]
COLUMNS = [b"a", b"b", b"c"]
TRUE, FALSE, ABSENT = 1, 0, None


class ScanTest(WireTest):
    def setUp(self):
        self.table = Table(("outside_" + self.id().rsplit(".", 1)[-1]).encode()[:60])
        self.enterContext(self.table)
        self.where, self.connection = self.table.connect(b"")
        self.addCleanup(self.connection.close)
        for row in ROWS:
            self.put(self.connection, self.where, [Cell(row, b"f", column, row + column) for column in COLUMNS])

    def send(self, fields):
        """(answer, [(row, partial, number of cells)])"""
        answer, cells = self.connection.call("Scan", fields)
        counts, partial = numbers(answer, 1), numbers(answer, 7)
        self.assertEqual(len(counts), len(partial), "partial flags are parallel to the counts, also when none is set")
        self.assertEqual(sum(counts), len(cells))
        self.assertNotIn(5, answer, "this connection has a codec: gohbase ignores results in the message")
        rows = []
        for count, flag in zip(counts, partial):
            part, cells = cells[:count], cells[count:]
            self.assertEqual(len({cell.row for cell in part}), 1, "one result is of one row")
            rows.append((part[0].row, flag, count))
        return answer, rows

    def open(self, number_of_rows, scan=(), extra=()):
        fields = [(1, region(self.where.name)), (2, list(scan)), (4, number_of_rows), (7, True), (8, True)]
        return self.send(fields + list(extra))

    def next(self, scanner, number_of_rows, extra=()):
        return self.send([(3, scanner), (4, number_of_rows), (7, True), (8, True)] + list(extra))

    @staticmethod
    def names(rows):
        return [row for row, _, _ in rows]

    def test_open_continue_and_the_server_closes_at_the_end(self):
        answer, rows = self.open(4)
        scanner = one(answer, 2)
        self.assertEqual(self.names(rows), ROWS[:4], "data comes with the opening already")
        self.assertGreater(one(answer, 4), 0, "the lease's length")
        self.assertEqual((one(answer, 8), one(answer, 3, TRUE)), (TRUE, TRUE))
        self.assertGreater(one(answer, 11, 0), 0, "mvcc_read_point")
        for expected in (ROWS[4:8], ROWS[8:]):
            answer, rows = self.next(scanner, 4)
            self.assertEqual((one(answer, 2), self.names(rows)), (scanner, expected))
            self.assertIn(4, answer, "the lease is told with every answer")
        self.assertEqual((one(answer, 8), one(answer, 3, TRUE)), (FALSE, TRUE), "the region has no more; the table may")
        for extra in ([], [(5, True)]):  # old clients come once more
            answer, rows = self.next(scanner, 4, extra)
            self.assertEqual((rows, one(answer, 8)), ([], FALSE))

    def test_close_makes_the_scanner_unknown(self):
        answer, _ = self.open(2)
        scanner = one(answer, 2)
        self.send([(3, scanner), (5, True)])
        self.assertRemote("UnknownScannerException", self.next, scanner, 1)
        self.assertRemote("UnknownScannerException", self.next, 12345, 1)

    def test_renewal_opens_or_extends_without_rows(self):
        answer, rows = self.open(3, extra=[(10, True)])
        self.assertEqual(rows, [])
        scanner = one(answer, 2)
        answer, rows = self.next(scanner, 3, [(10, True)])
        self.assertEqual(rows, [])
        self.assertEqual(self.names(self.next(scanner, 3)[1]), ROWS[:3])
        answer, rows = self.open(0)
        self.assertEqual((rows, one(answer, 8)), ([], TRUE))

    def test_call_numbers_are_checked(self):
        answer, _ = self.open(1)
        scanner = one(answer, 2)
        self.next(scanner, 1, [(6, one(answer, 6, 0))])
        error = self.assertRemote("OutOfOrderScannerNextException", self.next, scanner, 1, [(6, 7)])
        self.assertIn("next_call_seq", error.trace)

    def test_limit_of_rows_ends_the_whole_scan(self):
        answer, rows = self.open(100, extra=[(11, 3)])
        self.assertEqual((self.names(rows), one(answer, 3)), (ROWS[:3], FALSE))

    def test_bounds_and_direction(self):
        names = lambda *scan: self.names(self.open(100, scan)[1])
        self.assertEqual(names((3, ROWS[2]), (4, ROWS[5])), ROWS[2:5])
        self.assertEqual(names((3, ROWS[2]), (4, ROWS[5]), (21, False), (22, True)), ROWS[3:6])
        self.assertEqual(names((3, ROWS[5]), (4, ROWS[2]), (15, True)), ROWS[5:2:-1])
        self.assertEqual(names((15, True)), ROWS[::-1], "from the end")
        self.assertEqual(names((3, ROWS[5] + b"x"), (15, True), (21, False)), ROWS[5::-1])
        self.assertEqual(names((3, ROWS[4]), (4, ROWS[4])), [ROWS[4]], "one row, as old clients ask for it")
        self.assertEqual(names((3, b"zzz")), [])
        answer, _ = self.open(100, [(3, ROWS[2]), (4, ROWS[5])])
        self.assertEqual((one(answer, 8), one(answer, 3, TRUE)), (FALSE, TRUE), "a stop row ends the region only")

    def test_rows_are_cut_for_clients_that_can_join_them(self):
        size = (10, 1)
        answer, rows = self.open(100, [size])
        seen, cuts = list(rows), 0
        while one(answer, 8) == TRUE:
            answer, rows = self.next(one(answer, 2), 100)
            seen += rows
        for row in ROWS:
            parts = [part for part in seen if part[0] == row]
            self.assertEqual(sum(count for _, _, count in parts), len(COLUMNS))
            self.assertEqual([flag for _, flag, _ in parts], [TRUE] * (len(parts) - 1) + [FALSE])
            cuts += len(parts) - 1
        self.assertGreater(cuts, 0)
        answer, rows = self.send([(1, region(self.where.name)), (2, [size]), (4, 100)])
        self.assertEqual(rows[0], (ROWS[0], FALSE, 3), "a client that cannot join gets whole rows")

    def test_batch_is_a_number_of_cells(self):
        _, rows = self.open(4, [(9, 2)])
        self.assertEqual(rows, [(ROWS[0], TRUE, 2), (ROWS[0], FALSE, 1), (ROWS[1], TRUE, 2), (ROWS[1], FALSE, 1)])

    def test_without_a_codec_rows_travel_in_the_message(self):
        _, plain = self.table.connect(b"", codec=False)
        with plain:
            answer, block = plain.call("Scan", [(1, region(self.where.name)), (2, []), (4, 3)])
        self.assertEqual((block, answer.get(1)), ([], None))
        self.assertEqual([one(parse(parse(result)[1][0]), 1) for result in answer[5]], ROWS[:3])

    def test_a_filter_leaves_cells_out(self):
        _, rows = self.open(4, [(5, [(1, "org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter")])])
        self.assertEqual([(row, cells) for row, _, cells in rows], [(row, 1) for row in ROWS[:4]])

    def test_unknown_filters_are_refused_by_name(self):
        name = "org.apache.hadoop.hbase.filter.NoSuchFilter"
        error = self.assertRemote("DoNotRetryIOException", self.open, 1, [(5, [(1, name)])])
        self.assertIn(name, error.trace)
        self.assertTrue(error.do_not_retry)

    def test_metrics_are_counted_when_asked_for(self):
        answer, _ = self.open(4, extra=[(9, True)])
        metrics = dict((one(parse(pair), 1), one(parse(pair), 2)) for pair in parse(one(answer, 10))[1])
        self.assertGreaterEqual(metrics[b"ROWS_SCANNED"], 4)
        self.assertEqual(metrics[b"ROWS_FILTERED"], 0)

    def test_scanners_end_with_their_opening_of_the_region(self):
        answer, _ = self.open(2)
        run_procedure("DisableTable", [(1, table_name(self.table.name))])
        try:
            self.assertRemote("NotServingRegionException", self.next, one(answer, 2), 2)
        finally:
            run_procedure("EnableTable", [(1, table_name(self.table.name))])


if __name__ == "__main__":
    unittest.main()
