package ratchet.clients;

import static ratchet.clients.Checks.equal;
import static ratchet.clients.Checks.refused;
import static ratchet.clients.Checks.require;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.G;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;
import static ratchet.clients.Session.rows;
import static ratchet.clients.Session.text;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;

/** Reads, writes, deletes, conditions and batches of one table. */
final class DataChecks {
  private final Checks checks;
  private final Session session;

  DataChecks(Checks checks, Session session) {
    this.checks = checks;
    this.session = session;
  }

  void run() throws Exception {
    session.admin.createTable(session.table("data"), new byte[][] {bytes("m")});
    try (Table table = session.connection.getTable(session.name("data"))) {
      reads(table);
      deletes(table);
      counters(table);
      conditions(table);
      batches(table);
      refusals(table);
    }
  }

  private void check(String name, Checks.Body body) {
    checks.check(session.registry + ": " + name, body);
  }

  private void reads(Table table) {
    check("put, get, exists", () -> {
      table.put(put("a", "q", "1"));
      table.put(Arrays.asList(put("b", "q", "2"), put("z", "q", "3").addColumn(G, bytes("x"), bytes("4"))));
      equal("1", text(table.get(new Get(bytes("a"))).value()));
      equal(2, table.get(new Get(bytes("z"))).size());
      equal("[true, false]", Arrays.toString(table.exists(Arrays.asList(new Get(bytes("a")), new Get(bytes("no"))))));
      equal(true, table.get(new Get(bytes("b")).setCheckExistenceOnly(true)).getExists());
      equal(2, table.get(Arrays.asList(new Get(bytes("a")), new Get(bytes("z")))).length);
    });
    check("versions, time ranges, families of a Get", () -> {
      for (long i = 1; i <= 4; i++) {
        table.put(new Put(bytes("versions")).addColumn(F, bytes("q"), i * 10, bytes("v" + i)));
      }
      Get get = new Get(bytes("versions"));
      equal(4, table.get(new Get(get).readAllVersions()).size());
      equal(2, table.get(new Get(get).readVersions(2)).size());
      equal("v2", text(table.get(new Get(get).setTimeRange(10, 30)).value()));
      equal("v3", text(table.get(new Get(get).setTimestamp(30)).value()));
      equal(0, table.get(new Get(get).addFamily(G)).size());
    });
    check("limit and offset of a family", () -> {
      Put wide = new Put(bytes("wide"));
      for (int i = 0; i < 10; i++) {
        wide.addColumn(F, bytes("c" + i), bytes("v"));
      }
      table.put(wide);
      equal(3, table.get(new Get(bytes("wide")).setMaxResultsPerColumnFamily(3)).size());
      equal(4, table.get(new Get(bytes("wide")).setRowOffsetPerColumnFamily(6)).size());
    });
  }

  private void deletes(Table table) {
    check("every kind of delete", () -> {
      Get get = new Get(bytes("versions")).readAllVersions();
      table.delete(new Delete(bytes("versions")).addColumn(F, bytes("q")));
      equal("v3", text(table.get(get).value()));
      table.delete(new Delete(bytes("versions")).addColumn(F, bytes("q"), 20));
      equal(2, table.get(get).size());
      table.delete(new Delete(bytes("versions")).addColumns(F, bytes("q"), 10));
      equal(1, table.get(get).size());
      table.delete(new Delete(bytes("versions")).addFamily(F, 30));
      equal(true, table.get(get).isEmpty());
      table.put(new Put(bytes("fv")).addColumn(F, bytes("q"), 5, bytes("a")).addColumn(F, bytes("q"), 9, bytes("b")));
      table.delete(new Delete(bytes("fv")).addFamilyVersion(F, 9));
      equal("a", text(table.get(new Get(bytes("fv")).readAllVersions()).value()));
      table.delete(new Delete(bytes("z")));
      equal(false, table.exists(new Get(bytes("z"))));
      table.delete(new ArrayList<>(Arrays.asList(new Delete(bytes("fv")), new Delete(bytes("b")))));
      equal(false, table.exists(new Get(bytes("b"))));
    });
    check("a delete marker inside a Put", () -> {
      byte[] row = bytes("marker");
      table.put(new Put(row).addColumn(F, bytes("q"), bytes("v")));
      KeyValue marker = new KeyValue(row, F, bytes("q"), HConstants.LATEST_TIMESTAMP, KeyValue.Type.DeleteColumn);
      table.put(new Put(row).add(marker));
      equal(true, table.get(new Get(row)).isEmpty());
    });
    check("a raw scan shows what a delete hides", () -> {
      table.put(new Put(bytes("raw")).addColumn(F, bytes("q"), 1, bytes("1")));
      table.put(new Put(bytes("raw")).addColumn(F, bytes("q"), 2, bytes("2")));
      table.delete(new Delete(bytes("raw")).addColumns(F, bytes("q"), 5));
      Scan scan = new Scan().withStartRow(bytes("raw")).withStopRow(bytes("raw"), true).readAllVersions();
      equal("", rows(table, scan));
      equal("raw:3", rows(table, new Scan(scan).setRaw(true)));
    });
  }

  private void counters(Table table) {
    check("increments", () -> {
      equal(5, table.incrementColumnValue(bytes("count"), F, bytes("n"), 5));
      equal(6, table.incrementColumnValue(bytes("count"), F, bytes("n"), 1, Durability.SYNC_WAL));
      Increment more = new Increment(bytes("count")).addColumn(F, bytes("n"), 2).addColumn(G, bytes("m"), 1);
      equal(2, table.increment(more).size());
      equal(true, table.increment(new Increment(more).setReturnResults(false)).isEmpty());
    });
    check("appends", () -> {
      table.append(new Append(bytes("append")).addColumn(F, bytes("q"), bytes("ab")));
      equal("abcd", text(table.append(new Append(bytes("append")).addColumn(F, bytes("q"), bytes("cd"))).value()));
      // The columns of a result are in order, whatever the order in the request; clients look up by halving.
      Append three = new Append(bytes("append")).addColumn(F, bytes("q"), bytes("ef"));
      three.addColumn(F, bytes("c"), bytes("1")).addColumn(F, bytes("a"), bytes("2"));
      Result result = table.append(three);
      equal("abcdef", text(result.getValue(F, bytes("q"))));
      equal("1", text(result.getValue(F, bytes("c"))));
      equal("2", text(result.getValue(F, bytes("a"))));
    });
  }

  private void conditions(Table table) {
    check("checkAndMutate", () -> {
      byte[] row = bytes("cond");
      table.put(put("cond", "a", "2"));
      CheckAndMutate.Builder two = CheckAndMutate.newBuilder(row).ifEquals(F, bytes("a"), bytes("2"));
      equal(true, table.checkAndMutate(two.build(put("cond", "a", "3"))).isSuccess());
      equal(false, table.checkAndMutate(two.build(put("cond", "a", "4"))).isSuccess());
      CheckAndMutate.Builder absent = CheckAndMutate.newBuilder(row).ifNotExists(F, bytes("none"));
      equal(true, table.checkAndMutate(absent.build(put("cond", "b", "1"))).isSuccess());
      for (CompareOperator operator : CompareOperator.values()) {
        if (operator == CompareOperator.NO_OP) {
          continue;
        }
        CheckAndMutate.Builder three = CheckAndMutate.newBuilder(row).ifMatches(F, bytes("a"), operator, bytes("3"));
        boolean holds = operator == CompareOperator.EQUAL || operator.name().endsWith("OR_EQUAL");
        equal(operator + " " + holds, operator + " " + table.checkAndMutate(three.build(put("cond", "c", "1"))).isSuccess());
      }
    });
    check("checkAndMutate by a filter, with results", () -> {
      SingleColumnValueFilter three =
          new SingleColumnValueFilter(F, bytes("a"), CompareOperator.EQUAL, new BinaryComparator(bytes("3")));
      CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(bytes("cond")).ifMatches(three);
      Increment increment = new Increment(bytes("cond")).addColumn(F, bytes("i"), 7);
      equal(1, table.checkAndMutate(builder.build(increment)).getResult().size());
      RowMutations group = RowMutations.of(Arrays.asList(put("cond", "d", "1"), increment));
      equal(1, table.checkAndMutate(builder.build(group)).getResult().size());
    });
  }

  private void batches(Table table) {
    check("RowMutations", () -> {
      RowMutations plain = new RowMutations(bytes("group")).add((Mutation) put("group", "a", "1"));
      plain.add((Mutation) new Delete(bytes("group")).addColumns(F, bytes("b")));
      table.mutateRow(plain);
      Append append = new Append(bytes("group")).addColumn(F, bytes("s"), bytes("x"));
      Increment increment = new Increment(bytes("group")).addColumn(F, bytes("i"), 3);
      equal(2, table.mutateRow(RowMutations.of(Arrays.asList(put("group", "a", "2"), increment, append))).size());
    });
    check("a batch of everything, over two regions", () -> {
      List<Row> actions = new ArrayList<>(Arrays.asList(put("b1", "q", "v"), new Get(bytes("a"))));
      actions.add(new Delete(bytes("zz")));
      actions.add(new Increment(bytes("z2")).addColumn(F, bytes("n"), 1));
      actions.add(new Append(bytes("b3")).addColumn(F, bytes("n"), bytes("x")));
      actions.add(new RowMutations(bytes("z4")).add((Mutation) put("z4", "q", "v")));
      Object[] results = new Object[actions.size()];
      table.batch(actions, results);
      for (Object each : results) {
        require(each instanceof Result, "not a result: " + Arrays.toString(results));
      }
    });
    check("BufferedMutator of 3000 rows", () -> {
      try (BufferedMutator mutator = session.connection.getBufferedMutator(session.name("data"))) {
        for (int i = 0; i < 3000; i++) {
          mutator.mutate(put("many" + i, "q", "v"));
        }
      }
      Scan scan = new Scan().setStartStopRowForPrefixScan(bytes("many"));
      equal(3000, rows(table, scan).split(",").length);
    });
  }

  private void refusals(Table table) {
    check("an unknown family and an unknown table are named", () -> {
      refused("NoSuchColumnFamily", () -> table.put(new Put(bytes("r")).addColumn(bytes("x"), bytes("q"), F)));
      refused("NoSuchColumnFamily", () -> table.get(new Get(bytes("r")).addFamily(bytes("x"))));
      try (Table none = session.connection.getTable(session.name("none"))) {
        refused("TableNotFoundException", () -> none.get(new Get(bytes("r"))));
      }
    });
  }
}
