package ratchet.differential;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.util.Bytes;

/** Random changes. */
final class Writes {
  private static final byte[] COUNTERS = Bytes.toBytes("n");
  private static final long[] TTLS = {0, -1, 1000, 3_600_000, Long.MAX_VALUE};

  private final Random random;
  private final Names names;
  private final Answers answers;
  private final long base;
  private final Filters filters;
  private boolean bounded;
  private boolean early;
  /** Places and times that were written. */
  private final Set<String> taken = new HashSet<>();

  Writes(Random random, Names names, Answers answers, long base) {
    this.random = random;
    this.names = names;
    this.answers = answers;
    this.base = base;
    this.filters = new Filters(random, names);
  }

  /** Whether conditions have ranges of times. */
  void boundTimes(boolean bound) {
    bounded = bound;
    filters.keepAll(bound);
  }

  private static String text(byte[] bytes) {
    return Bytes.toStringBinary(bytes);
  }

  /** Adds up to three cells; it may have none in the end. */
  private Put put(byte[] row) {
    Put put = new Put(row);
    for (int i = 0; i <= random.nextInt(3); ++i) {
      byte[] family = names.family();
      byte[] qualifier = names.qualifier();
      // Some are older than the time to live of a family.
      long time = names.time() - (early && random.nextInt(8) == 0 ? 7_200_000 : 0);
      byte[] value = names.value();
      if (taken.add(text(row) + "/" + text(family) + ":" + text(qualifier) + "@" + time)) {
        put.addColumn(family, qualifier, time, value);
      }
    }
    if (random.nextInt(6) == 0) {
      put.setTTL(TTLS[random.nextInt(TTLS.length)]);
    }
    return put;
  }

  private Delete delete(byte[] row) {
    Delete delete = new Delete(row);
    byte[] family = names.family();
    long time = names.time();
    switch (random.nextInt(6)) {
      case 0:
        return new Delete(row, time);
      case 1:
        return delete.addFamily(family, time);
      case 2:
        return delete.addFamilyVersion(family, time);
      case 3:
      case 4:
        return delete.addColumns(family, names.qualifier(), time);
      default:
        return delete.addColumn(family, names.qualifier(), time);
    }
  }

  private Mutation readModifyWrite(byte[] row) {
    if (random.nextInt(3) > 0) {
      Increment increment = new Increment(row).addColumn(COUNTERS, Bytes.toBytes("c0"), random.nextInt(5) - 1L);
      if (random.nextInt(3) == 0) {
        increment.addColumn(COUNTERS, Bytes.toBytes("c1"), 10);
      }
      if (random.nextInt(6) == 0) {
        increment.setTTL(random.nextBoolean() ? 3_600_000 : Long.MAX_VALUE);
      }
      return increment.setReturnResults(random.nextInt(4) > 0);
    }
    Append append = new Append(row).addColumn(COUNTERS, Bytes.toBytes("a"), Bytes.toBytes("+"));
    if (random.nextInt(6) == 0) {
      append.setTTL(3_600_000);
    }
    return append.setReturnResults(random.nextInt(4) > 0);
  }

  private static String describe(Mutation mutation) throws Exception {
    return mutation.getClass().getSimpleName() + " " + mutation.toJSON(20) + (mutation.getTTL() == Long.MAX_VALUE ? "" : " ttl " + mutation.getTTL());
  }

  private Step single(boolean deletes) throws Exception {
    byte[] row = names.row();
    if (deletes && random.nextInt(3) == 0) {
      Delete delete = delete(row);
      return new Step(describe(delete), table -> {
        table.delete(delete);
        return "done";
      });
    }
    Put put = put(row);
    return new Step(describe(put), table -> {
      table.put(put);
      return "done";
    });
  }

  private Step change() throws Exception {
    Mutation mutation = readModifyWrite(names.row());
    return new Step(describe(mutation), table ->
        answers.untagged(mutation instanceof Increment ? table.increment((Increment) mutation) : table.append((Append) mutation)));
  }

  /** Several rows in one request; each row once, for the order of a batch is open. */
  private Step batch(boolean deletes) throws Exception {
    List<Row> rows = new ArrayList<>();
    Set<String> used = new HashSet<>();
    StringBuilder text = new StringBuilder("batch");
    for (int i = 0; i < 4; ++i) {
      byte[] row = names.row();
      int kind = random.nextInt(4);
      Mutation mutation = kind == 0 && deletes ? delete(row) : kind == 1 ? readModifyWrite(row) : put(row);
      if (!used.add(text(row)) || mutation.isEmpty() && mutation instanceof Put) {
        continue;
      }
      rows.add(mutation);
      text.append("; ").append(describe(mutation));
    }
    return new Step(text.toString(), table -> {
      Object[] results = new Object[rows.size()];
      try {
        table.batch(rows, results);
      } catch (Exception ignored) {
        // Each place of the results has its error.
      }
      List<String> lines = new ArrayList<>();
      for (Object result : results) {
        lines.add(result instanceof Result ? answers.untagged((Result) result) : result == null ? "null" : Answers.error((Throwable) result));
      }
      return lines.toString();
    });
  }

  private Step conditional() throws Exception {
    byte[] row = names.row();
    CheckAndMutate.Builder condition = CheckAndMutate.newBuilder(row);
    byte[] family = names.family();
    byte[] qualifier = names.qualifier();
    String text;
    switch (random.nextInt(4)) {
      case 0:
        condition.ifNotExists(family, qualifier);
        text = "absent";
        break;
      case 1:
        org.apache.hadoop.hbase.filter.Filter filter = filters.next(1);
        filter = Filters.excludes(filter) ? filters.compared() : filter;
        condition.ifMatches(filter);
        text = filter.toString();
        break;
      default:
        CompareOperator operator = CompareOperator.values()[random.nextInt(6)];
        byte[] value = names.value();
        condition.ifMatches(family, qualifier, operator, value);
        text = operator + " " + text(value);
    }
    if (bounded && random.nextInt(3) == 0) {
      condition.timeRange(org.apache.hadoop.hbase.io.TimeRange.between(base, names.time() + 1));
      text += " in a range of times";
    }
    Put put = put(row);
    CheckAndMutate whole = condition.build(put);
    return new Step("check " + text(row) + " " + text(family) + ":" + text(qualifier) + " " + text + " then " + describe(put), table -> {
      CheckAndMutateResult result = table.checkAndMutate(whole);
      return result.isSuccess() + " " + answers.untagged(result.getResult());
    });
  }

  private Step several(boolean deletes) throws Exception {
    byte[] row = names.row();
    RowMutations mutations = new RowMutations(row);
    StringBuilder text = new StringBuilder("row mutations");
    for (Mutation each : Arrays.asList(put(row), deletes ? delete(row) : put(row), readModifyWrite(row))) {
      if (each.isEmpty() && each instanceof Put || random.nextInt(4) == 0) {
        continue;
      }
      mutations.add(each);
      text.append("; ").append(describe(each));
    }
    return new Step(text.toString(), table -> answers.untagged(table.mutateRow(mutations)));
  }

  /** deletes: with delete markers, and with cells of any age. */
  Step next(boolean deletes) {
    early = deletes;
    try {
      switch (random.nextInt(10)) {
        case 0:
        case 1:
          return change();
        case 2:
        case 3:
          return batch(deletes);
        case 4:
          return conditional();
        case 5:
          return several(deletes);
        default:
          return single(deletes);
      }
    } catch (Exception thrown) {
      throw new IllegalStateException("a step cannot be made", thrown);
    }
  }
}
