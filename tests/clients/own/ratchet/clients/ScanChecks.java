package ratchet.clients;

import static ratchet.clients.Checks.equal;
import static ratchet.clients.Checks.require;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.G;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;
import static ratchet.clients.Session.rows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;

/** Scans, with and without filters, over a table of 20 rows (row00 to row19, each f:q and g:x) and a wide one. */
final class ScanChecks {
  private final Checks checks;
  private final Session session;

  ScanChecks(Checks checks, Session session) {
    this.checks = checks;
    this.session = session;
  }

  void run() throws Exception {
    session.admin.createTable(session.table("scan"), new byte[][] {bytes("row07"), bytes("row13")});
    session.admin.createTable(session.table("one"));
    try (Table table = session.connection.getTable(session.name("scan"));
        Table one = session.connection.getTable(session.name("one"))) {
      fill(table);
      fill(one);
      plain(table);
      partial(one);
      filters(one);
      asynchronous();
    }
  }

  private void check(String name, Checks.Body body) {
    checks.check(session.registry + ": " + name, body);
  }

  private static void fill(Table table) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      puts.add(put(String.format("row%02d", i), "q", "v" + i).addColumn(G, bytes("x"), bytes("y")));
    }
    Put wide = new Put(bytes("wide"));
    for (int i = 0; i < 10; i++) {
      wide.addColumn(F, bytes("c" + i), 10 * (i + 1), bytes("v"));
    }
    puts.add(wide);
    table.put(puts);
  }

  /** ROW:CELLS of the rows from first to last. */
  static String range(int first, int last, int cells) {
    StringBuilder text = new StringBuilder();
    for (int i = first; i <= last; i++) {
      text.append(text.length() > 0 ? "," : "").append(String.format("row%02d:%d", i, cells));
    }
    return text.toString();
  }

  private void plain(Table table) {
    check("scans over three regions", () -> {
      equal(range(0, 19, 2) + ",wide:10", rows(table, new Scan()));
      equal(range(5, 9, 2), rows(table, new Scan().withStartRow(bytes("row05")).setLimit(5)));
      equal(range(2, 8, 2), rows(table, new Scan().withStartRow(bytes("row01"), false).withStopRow(bytes("row08"), true)));
      equal("row08:2,row07:2,row06:2", rows(table, new Scan().withStartRow(bytes("row08")).setReversed(true).setLimit(3)));
      equal(range(0, 19, 1), rows(table, new Scan().addFamily(G)));
      equal(range(10, 19, 2), rows(table, new Scan().setStartStopRowForPrefixScan(bytes("row1"))));
      equal("row07:2", rows(table, new Scan().withStartRow(bytes("row07")).setOneRowLimit()));
      equal(range(0, 19, 2), rows(table, new Scan().setStartStopRowForPrefixScan(bytes("row")).setCaching(1)));
    });
    check("limits inside a row, time ranges of a family", () -> {
      Scan wide = new Scan().withStartRow(bytes("wide"));
      equal("wide:3,wide:3,wide:3,wide:1", rows(table, new Scan(wide).setBatch(3)));
      equal("wide:2", rows(table, new Scan(wide).setMaxResultsPerColumnFamily(2).setRowOffsetPerColumnFamily(1)));
      equal("wide:3", rows(table, new Scan(wide).setColumnFamilyTimeRange(F, 20, 50)));
    });
    check("PageFilter is counted by region; the scan's limit by the client", () -> {
      equal(range(0, 3, 2), rows(table, new Scan().setFilter(new PageFilter(4)).setLimit(4)));
    });
    check("metrics, read types, cursors", () -> {
      try (ResultScanner scanner = table.getScanner(new Scan().setScanMetricsEnabled(true))) {
        int count = 0;
        for (Result result : scanner) {
          count += result.isEmpty() ? 0 : 1;
        }
        require(scanner.getScanMetrics().countOfRowsScanned.get() >= count, "fewer rows counted than given");
      }
      equal(range(0, 19, 2) + ",wide:10", rows(table, new Scan().setReadType(Scan.ReadType.STREAM)));
      equal(range(0, 19, 2) + ",wide:10", rows(table, new Scan().setReadType(Scan.ReadType.PREAD)));
    });
  }

  private void partial(Table table) {
    check("parts of rows", () -> {
      Scan wide = new Scan().withStartRow(bytes("wide")).setMaxResultSize(1);
      equal("wide:10", rows(table, wide));
      equal(10, rows(table, new Scan(wide).setAllowPartialResults(true)).split(",").length);
    });
    check("a lease is renewed", () -> {
      try (ResultScanner scanner = table.getScanner(new Scan().setCaching(1))) {
        scanner.next();
        equal(true, scanner.renewLease());
        require(scanner.next() != null, "the scan ended");
      }
    });
  }

  private void filters(Table table) throws Exception {
    for (FilterCase each : FilterCase.all()) {
      check("filter " + each.name, () -> {
        Scan scan = new Scan().withStartRow(bytes("row")).withStopRow(each.wide ? bytes("x") : bytes("s"));
        equal(each.expected, rows(table, new Scan(scan).setFilter(each.filter)));
      });
    }
    check("a filter in a reversed scan and in a Get", () -> {
      Filter filter = new PrefixFilter(bytes("row1"));
      Scan reversed = new Scan().setReversed(true).setFilter(filter).withStartRow(bytes("row11"));
      equal("row11:2,row10:2", rows(table, reversed));
      equal(2, table.get(new Get(bytes("row12")).setFilter(filter)).size());
      equal(0, table.get(new Get(bytes("row02")).setFilter(filter)).size());
    });
  }

  private void asynchronous() {
    AsyncTable<?> table = session.async.getTable(session.name("scan"));
    check("AsyncTable: put, get, scanAll, batch", () -> {
      table.put(put("async", "q", "v")).get(30, TimeUnit.SECONDS);
      equal(true, table.exists(new Get(bytes("async"))).get(30, TimeUnit.SECONDS));
      Scan scan = new Scan().setStartStopRowForPrefixScan(bytes("row"));
      equal(20, table.scanAll(scan).get(30, TimeUnit.SECONDS).size());
      List<Get> gets = Arrays.asList(new Get(bytes("row01")), new Get(bytes("row15")));
      equal(2, table.<Result>batchAll(gets).get(30, TimeUnit.SECONDS).size());
    });
  }
}
