package ratchet.clients;

import static ratchet.clients.Checks.await;
import static ratchet.clients.Checks.equal;
import static ratchet.clients.Checks.require;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;
import static ratchet.clients.Session.rows;
import static ratchet.clients.Session.text;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/**
 * One client has a table's regions in its cache; another client moves, splits, merges and drops them, and makes the table
 * again. The first one reads what is there, and no call of it takes long.
 */
final class StaleCacheChecks {
  private static final int ROWS = 40;
  private static final long LONGEST_CALL_MS = 10_000;

  private final Checks checks;
  private final Session reader;
  /** Another connection, with a cache of its own. */
  private final Session operator;

  StaleCacheChecks(Checks checks, Session reader, Session operator) {
    this.checks = checks;
    this.reader = reader;
    this.operator = operator;
  }

  /** What the operator does to the table's regions, which have moved. */
  private interface Change {
    void apply(TableName name) throws Exception;
  }

  void run() {
    check("moved", name -> { });
    check("moved and split", this::split);
    check("moved and merged", this::merge);
    check("moved, merged and split", name -> {
      merge(name);
      moveAll(name);
      split(name);
    });
  }

  private void check(String what, Change change) {
    checks.check(reader.registry + ": a client with an old cache reads regions that were " + what, () -> {
      String of = "stale_" + what.replaceAll("[^a-z]+", "_");
      TableName name = reader.name(of);
      operator.admin.createTable(reader.table(of), new byte[][] {bytes("row010"), bytes("row020"), bytes("row030")});
      try (Table table = reader.connection.getTable(name)) {
        fill(name, "old", 0);
        readAll(table, "old", 0);
        moveAll(name);
        readAll(table, "old", 0);
        moveAll(name);
        change.apply(name);
        readAll(table, "old", 0);
        moveAll(name);
        makeAgain(of, name);
        fill(name, "new", 1);
        readAll(table, "new", 1);
        moveAll(name);
        readAll(table, "new", 1);
      }
      operator.admin.disableTable(name);
      operator.admin.deleteTable(name);
    });
  }

  /** Every second row from `first`. */
  private void fill(TableName name, String value, int first) throws Exception {
    try (Table table = operator.connection.getTable(name)) {
      for (int i = first; i < ROWS; i += 2) {
        table.put(put(row(i), "q", value));
      }
    }
  }

  private static String row(int i) {
    return String.format("row%03d", i);
  }

  /** Gets of all rows, those that are not there too; then scans both ways, and gets by the asynchronous client. */
  private void readAll(Table table, String value, int first) throws Exception {
    StringBuilder expected = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      byte[] row = bytes(row(i));
      boolean there = i % 2 == first;
      String here = there ? value : "none";
      equal(row(i) + " " + here, row(i) + " " + valueOf(within("a get of " + row(i), () -> table.get(new Get(row)))));
      if (there) {
        expected.append(expected.length() > 0 ? "," : "").append(row(i)).append(":1");
      }
    }
    equal(expected, within("a scan", () -> rows(table, new Scan().addFamily(F))));
    equal(expected.toString().split(",").length,
        within("a reversed scan", () -> rows(table, new Scan().addFamily(F).setReversed(true).setCaching(3))).split(",").length);
    byte[] last = bytes(row(ROWS - 2 + first));
    equal(value, valueOf(within("an asynchronous get",
        () -> reader.async.getTable(table.getName()).get(new Get(last)).get(LONGEST_CALL_MS, TimeUnit.MILLISECONDS))));
  }

  private static String valueOf(Result result) {
    return result.isEmpty() ? "none" : text(result.getValue(F, bytes("q")));
  }

  private static <T> T within(String what, java.util.concurrent.Callable<T> call) throws Exception {
    long from = System.nanoTime();
    T answer = call.call();
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - from);
    require(took < LONGEST_CALL_MS, what + " took " + took + " ms");
    return answer;
  }

  /** Each region to the next server. */
  private void moveAll(TableName name) throws Exception {
    Admin admin = operator.admin;
    List<ServerName> servers = new ArrayList<>(admin.getRegionServers());
    for (RegionInfo region : admin.getRegions(name)) {
      ServerName from = where(name, region);
      ServerName to = servers.get((servers.indexOf(from) + 1) % servers.size());
      admin.move(region.getEncodedNameAsBytes(), to);
      await("the region is at " + to, () -> to.equals(where(name, region)));
    }
  }

  private ServerName where(TableName name, RegionInfo region) throws Exception {
    return operator.connection.getRegionLocator(name).getRegionLocation(region.getStartKey(), true).getServerName();
  }

  private void split(TableName name) throws Exception {
    RegionInfo first = operator.admin.getRegions(name).get(0);
    operator.admin.splitRegionAsync(first.getRegionName(), bytes("row005")).get(60, TimeUnit.SECONDS);
  }

  private void merge(TableName name) throws Exception {
    List<RegionInfo> regions = operator.admin.getRegions(name);
    byte[][] names = {regions.get(0).getEncodedNameAsBytes(), regions.get(1).getEncodedNameAsBytes()};
    operator.admin.mergeRegionsAsync(names, false).get(60, TimeUnit.SECONDS);
  }

  private void makeAgain(String of, TableName name) throws Exception {
    operator.admin.disableTable(name);
    operator.admin.deleteTable(name);
    operator.admin.createTable(reader.table(of), new byte[][] {bytes("row020")});
  }
}
