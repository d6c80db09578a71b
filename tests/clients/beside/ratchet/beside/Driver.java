package ratchet.beside;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.client.metrics.ScanMetrics;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Measures one cluster with HBase's Java client. Each line of output: NAME VALUE UNIT, with "higher" or "lower" for what is better.
 * Arguments: port of ZooKeeper, rows, seconds of each measurement, seconds of warm-up; then, not needed, which to run: a regular expression
 * of names (scan_memory, scan_files, get_8_threads, put_32_threads, increment_8_threads).
 */
public final class Driver {
  private static final TableName ROWS = TableName.valueOf("beside");
  private static final TableName NEW_ROWS = TableName.valueOf("beside_puts");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int REGIONS = 9;

  private final Connection connection;
  private final int rows;
  private final int seconds;
  private final Pattern only;
  private final byte[] value = new byte[100];

  private Driver(Connection connection, int rows, int seconds, Pattern only) {
    this.connection = connection;
    this.rows = rows;
    this.seconds = seconds;
    this.only = only;
    new SplittableRandom(1).nextBytes(value);
  }

  private interface Operation {
    void run(Table table, SplittableRandom random) throws Exception;
  }

  private static void say(String name, double figure, String unit, boolean higherIsBetter) {
    System.out.printf("%s %.1f %s %s%n", name, figure, unit, higherIsBetter ? "higher" : "lower");
  }

  private boolean wanted(String name) {
    return only.matcher(name).find();
  }

  /** Processor time of this process beside each measurement, so that the rest of a machine's time can be told from it. */
  private static double processorSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }

  private byte[] key(int row) {
    return Bytes.toBytes(String.format("%08d", row));
  }

  private void createTable(Admin admin, TableName name) throws Exception {
    byte[][] splits = new byte[REGIONS - 1][];
    for (int i = 1; i < REGIONS; ++i) splits[i - 1] = key((int) ((long) rows * i / REGIONS));
    admin.createTable(TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build(), splits);
  }

  private double load() throws Exception {
    long begun = System.nanoTime();
    try (BufferedMutator mutator = connection.getBufferedMutator(ROWS)) {
      for (int row = 0; row < rows; ++row) mutator.mutate(new Put(key(row)).addColumn(FAMILY, QUALIFIER, value));
    }
    return rows / ((System.nanoTime() - begun) / 1e9);
  }

  private static Scan scanOfAll() {
    return new Scan().setCaching(10_000).setMaxResultSize(2 << 20).setCacheBlocks(true);
  }

  private double scanOnce() throws Exception {
    long begun = System.nanoTime();
    int found = 0;
    try (Table table = connection.getTable(ROWS);
         ResultScanner scanner = table.getScanner(scanOfAll())) {
      for (Result ignored : scanner) ++found;
    }
    if (found != rows) throw new IllegalStateException("the scan found " + found + " of " + rows + " rows");
    return rows / ((System.nanoTime() - begun) / 1e9);
  }

  /** Calls and bytes of one scan, as the client counts them. */
  private void sayShape(String name) throws Exception {
    try (Table table = connection.getTable(ROWS);
         ResultScanner scanner = table.getScanner(scanOfAll().setScanMetricsEnabled(true))) {
      for (Result ignored : scanner) continue;
      ScanMetrics metrics = scanner.getScanMetrics();
      System.err.printf("%s: %d calls, %d bytes of cells in %d regions%n", name, metrics.countOfRPCcalls.get(),
          metrics.countOfBytesInResults.get(), metrics.countOfRegions.get());
    }
  }

  private void scan(String name) throws Exception {
    if (!wanted(name)) return;
    double best = 0;
    long scans = 0;
    double before = processorSeconds();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    do {
      best = Math.max(best, scanOnce());
      ++scans;
    } while (System.nanoTime() < end);
    System.err.printf("%s: %d rows, %.3f us of the client's processor time each%n", name, scans * rows,
        (processorSeconds() - before) * 1e6 / (scans * rows));
    sayShape(name);
    say(name, best, "rows/s", true);
  }

  private void measured(TableName table, String name, int threads, Operation operation) throws Exception {
    if (!wanted(name)) return;
    double before = processorSeconds();
    double[] figures = measure(table, threads, seconds, operation);
    System.err.printf("%s: %.1f us of the client's processor time each%n", name, (processorSeconds() - before) * 1e6 / (figures[0] * seconds));
    say(name, figures[0], "ops/s", true);
    say(name + "_p50", figures[1], "us", false);
  }

  /** Operations a second and the median, in microseconds. */
  private double[] measure(TableName name, int threads, int forSeconds, Operation operation) throws Exception {
    CountDownLatch ready = new CountDownLatch(threads);
    AtomicLong operations = new AtomicLong();
    AtomicReference<Exception> failed = new AtomicReference<>();
    List<long[]> samples = new ArrayList<>();
    List<Thread> running = new ArrayList<>();
    long end = System.nanoTime() + forSeconds * 1_000_000_000L;
    for (int i = 0; i < threads; ++i) {
      SplittableRandom random = new SplittableRandom(i + 1);
      Thread thread = new Thread(() -> {
        long[] taken = new long[1 << 20];
        int count = 0;
        try (Table table = connection.getTable(name)) {
          ready.countDown();
          ready.await();
          for (long now = System.nanoTime(); now < end && count < taken.length; ++count) {
            operation.run(table, random);
            long then = System.nanoTime();
            taken[count] = then - now;
            now = then;
          }
        } catch (Exception error) {
          failed.set(error);
        }
        operations.addAndGet(count);
        synchronized (samples) {
          samples.add(Arrays.copyOf(taken, count));
        }
      });
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) thread.join();
    if (failed.get() != null) throw failed.get();
    long[] all = samples.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    return new double[] {operations.get() / (double) forSeconds, all[all.length / 2] / 1000.0};
  }

  private void get(Table table, SplittableRandom random) throws Exception {
    if (table.get(new Get(key(random.nextInt(rows)))).isEmpty()) throw new IllegalStateException("a row is missing");
  }

  private void put(Table table, SplittableRandom random) throws Exception {
    table.put(new Put(key(random.nextInt(rows))).addColumn(FAMILY, QUALIFIER, value));
  }

  private void increment(Table table, SplittableRandom random) throws Exception {
    table.increment(new Increment(Bytes.toBytes("counter" + random.nextInt(100))).addColumn(FAMILY, QUALIFIER, 1));
  }

  private void warmUp(int forSeconds) throws Exception {
    if (forSeconds == 0) return;
    measure(ROWS, 8, forSeconds / 3, this::get);
    measure(NEW_ROWS, 8, forSeconds / 3, this::put);
    long end = System.nanoTime() + forSeconds / 3 * 1_000_000_000L;
    while (System.nanoTime() < end) scanOnce();
  }

  private void run(int warmUpSeconds) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      createTable(admin, ROWS);
      createTable(admin, NEW_ROWS);
      say("load_buffered", load(), "rows/s", true);
      warmUp(warmUpSeconds);
      System.err.println("warmed up");
      scan("scan_memory");
      admin.flush(ROWS);
      // The answer to a flush may come before its end; what is scanned next is in files.
      for (int i = 0; i < 3; ++i) scanOnce();
      scan("scan_files");
      for (int threads : new int[] {1, 8, 32}) measured(ROWS, "get_" + threads + "_threads", threads, this::get);
      for (int threads : new int[] {1, 8, 32}) measured(NEW_ROWS, "put_" + threads + "_threads", threads, this::put);
      measured(NEW_ROWS, "increment_8_threads", 8, this::increment);
      for (TableName name : new TableName[] {ROWS, NEW_ROWS}) {
        admin.disableTable(name);
        admin.deleteTable(name);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", "127.0.0.1");
    configuration.set("hbase.zookeeper.property.clientPort", arguments[0]);
    configuration.setInt("hbase.client.write.buffer", 4 << 20);
    try (Connection connection = ConnectionFactory.createConnection(configuration)) {
      new Driver(connection, Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), Pattern.compile(arguments.length > 4 ? arguments[4] : "")).run(Integer.parseInt(arguments[3]));
    }
    System.exit(0);
  }
}
