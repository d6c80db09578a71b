package ratchet.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * One table, what is written into it, and what is asked. A round is made from its seed alone, so that it is the same for
 * each cluster, and never from an answer.
 *
 * <p>HBase's answers depend on when it flushes and compacts: both drop versions beyond VERSIONS and what markers hide. So
 * markers come before the first flush only, raw scans too, nothing is written twice at one place and time, and a read with
 * an upper bound of times only sees tables that keep all versions, as do tables that keep deleted cells.
 */
final class Round {
  /** Steps of a phase; between two phases is a flush or a major compaction. */
  private static final int STEPS = 100;

  private final Random random;
  private final Answers answers;
  private final Names names;
  private final Writes writes;
  private final Reads reads;
  private final TableName name;
  private final List<String> lines = new ArrayList<>();

  Round(long seed, long base) {
    random = new Random(seed);
    answers = new Answers(base);
    name = TableName.valueOf("differential_" + Long.toUnsignedString(seed, 36));
    names = new Names(random, base);
    writes = new Writes(random, names, answers, base);
    reads = new Reads(random, names, answers);
  }

  private ColumnFamilyDescriptor family(String family, int versions, boolean keep) {
    ColumnFamilyDescriptorBuilder builder = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(family));
    builder.setMaxVersions(versions);
    if (random.nextInt(4) == 0) {
      builder.setTimeToLive(3600);
      if (random.nextInt(3) == 0) {
        builder.setMinVersions(1);
        reads.keepMinVersions();
      }
    }
    if (keep && random.nextInt(3) == 0) {
      builder.setKeepDeletedCells(KeepDeletedCells.TRUE);
    }
    return builder.build();
  }

  private void create(Admin admin) throws Exception {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(name);
    int[] versions = {1, 2, 3};
    boolean keepsAll = random.nextInt(3) == 0;
    reads.boundTimes(keepsAll);
    writes.boundTimes(keepsAll);
    table.setColumnFamily(family("f", keepsAll ? 100 : versions[random.nextInt(versions.length)], keepsAll));
    table.setColumnFamily(family("g", keepsAll ? 100 : versions[random.nextInt(versions.length)], keepsAll));
    // Counters: server timestamps, and every change is a version.
    table.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes("n")).setMaxVersions(1000).build());
    byte[][] splits = {Bytes.toBytes("b"), Bytes.toBytes("m")};
    boolean split = random.nextBoolean();
    // HBase's client loses cells of a batched scan with a limit where it comes to the next region.
    reads.limitBatches(!split);
    lines.add("table " + table.build() + (split ? " in three regions" : ""));
    if (split) {
      admin.createTable(table.build(), splits);
    } else {
      admin.createTable(table.build());
    }
  }

  private void flush(Admin admin) throws Exception {
    admin.flush(name);
  }

  private void compact(Admin admin) throws Exception {
    admin.majorCompact(name);
    int idle = 0;
    for (int i = 0; i < 100 && idle < 5; ++i) {
      Thread.sleep(50);
      idle = admin.getCompactionState(name) == CompactionState.NONE ? idle + 1 : 0;
    }
  }

  private void steps(Table table, String phase, boolean first) {
    for (int i = 0; i < STEPS; ++i) {
      Step step = random.nextInt(3) == 0 || i < 8 && first ? writes.next(first) : reads.next(first);
      String answer;
      try {
        answer = step.run(table);
      } catch (Exception | AssertionError thrown) {
        answer = Answers.error(thrown);
      }
      lines.add(phase + " " + step.text + " -> " + answer);
    }
  }

  /** What each step was and what the cluster answered. The table is gone at the end. */
  List<String> run(Connection connection) throws Exception {
    Admin admin = connection.getAdmin();
    create(admin);
    try (Table table = connection.getTable(name)) {
      steps(table, "memory", true);
      flush(admin);
      // A put below a marker that is in a file: a compaction can take the marker away, or both.
      names.passTime();
      steps(table, "flushed", false);
      compact(admin);
      steps(table, "compacted", false);
    } finally {
      admin.disableTable(name);
      admin.deleteTable(name);
    }
    return lines;
  }
}
