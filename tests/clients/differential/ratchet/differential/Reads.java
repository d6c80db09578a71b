package ratchet.differential;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Query;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.util.Bytes;

/** Random gets and scans. */
final class Reads {
  private static final int MOST_RESULTS = 10_000;

  private final Random random;
  private final Names names;
  private final Answers answers;
  private final Filters filters;
  private boolean bounded;
  private boolean limitedBatches;
  private boolean minVersions;

  Reads(Random random, Names names, Answers answers) {
    this.random = random;
    this.names = names;
    this.answers = answers;
    this.filters = new Filters(random, names);
  }

  /** Whether ranges of times have an upper bound. */
  void boundTimes(boolean bound) {
    bounded = bound;
    filters.keepAll(bound);
  }

  /** A family has MIN_VERSIONS: of columns that a read names, HBase shows one expired version more. */
  void keepMinVersions() {
    minVersions = true;
  }

  /** Whether a scan with a batch may have a limit. */
  void limitBatches(boolean limited) {
    limitedBatches = limited;
  }

  private long[] range() {
    long one = names.time();
    long two = bounded ? names.time() + 1 : Long.MAX_VALUE;
    return new long[] {Math.min(one, two), Math.max(one, two)};
  }

  private Get get() throws Exception {
    Get get = new Get(names.row());
    for (int i = random.nextInt(4); i > 1; --i) {
      get.addColumn(names.family(), names.qualifier());
    }
    if (random.nextInt(6) == 0) {
      get.addFamily(names.family());
    }
    if (random.nextBoolean()) {
      int versions = 1 + random.nextInt(3);
      get.readVersions(minVersions && get.hasFamilies() ? 1 : versions);
    }
    if (random.nextInt(4) == 0) {
      long[] range = range();
      get.setTimeRange(range[0], range[1]);
    }
    if (random.nextInt(3) == 0) {
      get.setFilter(filters.next(0));
      // With families on demand, HBase judges rows by a part of them (docs/differences-from-hbase.md).
      get.setLoadColumnFamiliesOnDemand(false);
    }
    if (random.nextInt(6) == 0) {
      get.setMaxResultsPerColumnFamily(1 + random.nextInt(3));
      get.setRowOffsetPerColumnFamily(random.nextInt(3));
    }
    if (random.nextInt(8) == 0) {
      get.setCheckExistenceOnly(true);
    }
    return get;
  }

  private static String text(Query query, Filter filter) throws Exception {
    return query.getClass().getSimpleName() + " " + query.toJSON(20) + (filter == null ? "" : " filter " + filter);
  }

  private Step oneGet() throws Exception {
    Get get = get();
    return new Step(text(get, get.getFilter()) + (get.isCheckExistenceOnly() ? " exists" : ""), table -> answers.result(table.get(get)));
  }

  private Step gets() throws Exception {
    List<Get> all = Arrays.asList(get(), get(), get());
    StringBuilder text = new StringBuilder("gets");
    for (Get get : all) {
      text.append("; ").append(text(get, get.getFilter()));
    }
    return new Step(text.toString(), table -> {
      List<String> lines = new ArrayList<>();
      for (Result result : table.get(all)) {
        lines.add(answers.result(result));
      }
      return lines.toString();
    });
  }

  private void bounds(Scan scan) {
    byte[] from = names.row();
    byte[] to = names.row();
    boolean swap = Arrays.compareUnsigned(from, to) > 0 != scan.isReversed();
    if (random.nextInt(3) > 0) {
      scan.withStartRow(swap ? to : from, random.nextInt(4) > 0);
    }
    if (random.nextInt(3) > 0) {
      scan.withStopRow(swap ? from : to, random.nextBoolean());
    }
  }

  private Scan scan(boolean raw) throws Exception {
    Scan scan = new Scan().setReversed(random.nextInt(3) == 0);
    bounds(scan);
    if (raw && random.nextInt(4) == 0) {
      scan.setRaw(true);
    } else {
      for (int i = random.nextInt(4); i > 1; --i) {
        scan.addColumn(names.family(), names.qualifier());
      }
    }
    if (random.nextBoolean()) {
      int versions = 1 + random.nextInt(3);
      scan.readVersions(minVersions && scan.hasFamilies() ? 1 : versions);
    }
    if (random.nextInt(4) == 0) {
      long[] range = range();
      scan.setTimeRange(range[0], range[1]);
    }
    if (random.nextInt(2) == 0) {
      Filter filter = scan.isRaw() ? filters.compared() : filters.next(0);
      // Reversed, HBase takes its hints otherwise (docs/differences-from-hbase.md).
      scan.setFilter(scan.isReversed() && Filters.listSeeks(filter) ? filters.compared() : filter);
    }
    if (random.nextInt(6) == 0) {
      scan.setMaxResultsPerColumnFamily(1 + random.nextInt(3));
      scan.setRowOffsetPerColumnFamily(random.nextInt(3));
    }
    if (random.nextInt(3) == 0) {
      scan.setLimit(1 + random.nextInt(4));
    }
    if (random.nextInt(4) == 0 && (scan.getFilter() == null || !scan.getFilter().hasFilterRow())) {
      scan.setBatch(1 + random.nextInt(3));
    }
    if (random.nextInt(3) == 0) {
      scan.setCaching(1 + random.nextInt(3));
    }
    if (scan.isReversed() || scan.getFilter() != null) {
      // As above, and HBase refuses a reversed scan whose filter needs one family only.
      scan.setLoadColumnFamiliesOnDemand(false);
    }
    // HBase's client loses cells of a batched scan with a limit (docs/differences-from-hbase.md).
    if (scan.getBatch() > 0 && (!limitedBatches || scan.getCaching() > 0)) {
      scan.setLimit(-1);
    }
    if (random.nextInt(6) == 0 && (scan.getBatch() <= 0 || scan.getLimit() <= 0)) {
      scan.setMaxResultSize(1 + random.nextInt(200));
    }
    return scan;
  }

  private String read(Table table, Scan scan) throws Exception {
    List<String> lines = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        lines.add(answers.result(result));
        if (lines.size() > MOST_RESULTS) {
          lines.add("without end");
          break;
        }
      }
    }
    return lines.toString();
  }

  private Step oneScan(boolean raw) throws Exception {
    Scan scan = scan(raw);
    String text = text(scan, scan.getFilter()) + (scan.isRaw() ? " raw" : "") + (scan.isReversed() ? " reversed" : "")
        + " limit " + scan.getLimit() + " batch " + scan.getBatch() + " from " + Bytes.toStringBinary(scan.getStartRow())
        + (scan.includeStartRow() ? " included" : "") + " to " + Bytes.toStringBinary(scan.getStopRow())
        + (scan.includeStopRow() ? " included" : "");
    return new Step(text, table -> read(table, scan));
  }

  /** raw: with raw scans. */
  Step next(boolean raw) {
    try {
      switch (random.nextInt(6)) {
        case 0:
        case 1:
          return oneGet();
        case 2:
          return gets();
        default:
          return oneScan(raw);
      }
    } catch (Exception thrown) {
      throw new IllegalStateException("a step cannot be made", thrown);
    }
  }
}
