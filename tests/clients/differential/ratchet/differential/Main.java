package ratchet.differential;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * Asks HBase and Ratchet the same and compares the answers. Arguments: port of HBase's ZooKeeper, port of Ratchet's, seed,
 * rounds (0: no bound), seconds after which no round begins. Exit code 1: an answer differs; 2: a cluster does not work.
 */
public final class Main {
  /** Timestamps of a round's client are this old. */
  private static final long AGE_MS = 60_000;

  private static final int MOST_SHOWN = 20;

  private static final long READY_SECONDS = 120;

  /** Rounds side by side: administration takes longer than data. */
  private static final int AT_ONCE = 3;

  private Main() {}

  /** A round that runs on both clusters. */
  private static final class Pending {
    final Future<List<String>> hbase;
    final Future<List<String>> ratchet;

    Pending(ExecutorService workers, long seed, Connection toHBase, Connection toRatchet) {
      long base = System.currentTimeMillis() - AGE_MS;
      hbase = workers.submit(() -> new Round(seed, base).run(toHBase));
      ratchet = workers.submit(() -> new Round(seed, base).run(toRatchet));
    }
  }

  private static Connection connect(String port) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.set("hbase.zookeeper.property.clientPort", port);
    conf.set("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
    conf.setInt("hbase.client.retries.number", 8);
    conf.setInt("hbase.client.operation.timeout", 30_000);
    return ConnectionFactory.createConnection(conf);
  }

  /** Until the cluster makes and drops a table: HBase's master is long in its start on a busy machine. */
  private static void awaitReady(Connection connection) throws Exception {
    TableName name = TableName.valueOf("differential_ready");
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    while (true) {
      try (Admin admin = connection.getAdmin()) {
        if (!admin.tableExists(name)) {
          ColumnFamilyDescriptor family = ColumnFamilyDescriptorBuilder.of("f");
          admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(family).build());
        }
        if (!admin.isTableDisabled(name)) {
          admin.disableTable(name);
        }
        admin.deleteTable(name);
        return;
      } catch (IOException notYet) {
        if (System.nanoTime() > end) {
          throw notYet;
        }
      }
    }
  }

  private static int differences(long seed, List<String> hbase, List<String> ratchet, int shown) {
    int count = 0;
    for (int i = 0; i < hbase.size(); ++i) {
      if (hbase.get(i).equals(ratchet.get(i))) {
        continue;
      }
      if (count == 0 && shown < MOST_SHOWN) {
        System.out.println("DIFFERS: seed " + seed + ", step " + i + "\n  " + hbase.get(0));
      }
      if (shown + count < MOST_SHOWN) {
        String line = hbase.get(i);
        int arrow = line.lastIndexOf(" -> ");
        System.out.println("  " + i + " " + line.substring(0, arrow) + "\n    HBase:   " + line.substring(arrow + 4));
        System.out.println("    Ratchet: " + ratchet.get(i).substring(ratchet.get(i).lastIndexOf(" -> ") + 4));
      }
      ++count;
    }
    return count;
  }

  public static void main(String[] arguments) {
    try {
      System.exit(compare(arguments));
    } catch (Exception failed) {
      failed.printStackTrace();
      System.exit(2);  // threads of rounds and connections would hold the program
    }
  }

  private static int compare(String[] arguments) throws Exception {
    long seed = Long.parseLong(arguments[2]);
    int rounds = Integer.parseInt(arguments[3]);
    long answers = 0;
    int differ = 0;
    int done = 0;
    System.out.println("seed " + seed);
    try (Connection hbase = connect(arguments[0]); Connection ratchet = connect(arguments[1])) {
      awaitReady(hbase);
      awaitReady(ratchet);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[4]));
      ExecutorService workers = Executors.newFixedThreadPool(2 * AT_ONCE);
      Deque<Pending> pending = new ArrayDeque<>();
      int begun = 0;
      for (; done < begun || done == 0; ++done) {
        while (pending.size() < AT_ONCE && (rounds == 0 || begun < rounds) && System.nanoTime() < end) {
          pending.add(new Pending(workers, seed + begun++, hbase, ratchet));
        }
        List<String> first = pending.peek().hbase.get();
        List<String> second = pending.poll().ratchet.get();
        int here = differences(seed + done, first, second, differ);
        if (here > 0 && Boolean.getBoolean("differential.whole")) {
          for (String line : first) {
            System.out.println("    " + line);
          }
        }
        differ += here;
        answers += first.size() - 1;
      }
    }
    System.out.println(done + " rounds from seed " + seed + ", " + answers + " answers compared: " + differ + " differ");
    return differ == 0 && done > 0 ? 0 : 1;
  }
}
