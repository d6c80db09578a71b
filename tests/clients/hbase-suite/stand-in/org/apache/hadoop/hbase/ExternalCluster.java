package org.apache.hadoop.hbase;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionLocator;

/** The cluster that runs outside of this JVM: where it is, and how a test finds it empty. */
public final class ExternalCluster {
  private ExternalCluster() {}

  /** Sets the addresses (system properties suite.zookeeper.port and suite.masters), and caps the patience of clients. */
  public static void configure(Configuration conf) {
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.set("hbase.zookeeper.property.clientPort", System.getProperty("suite.zookeeper.port", "2181"));
    conf.set("zookeeper.znode.parent", "/hbase");
    conf.set("hbase.masters", System.getProperty("suite.masters", ""));
    conf.unset("hbase.client.zookeeper.quorum");
    cap(conf, "hbase.client.retries.number", 4);
    cap(conf, "hbase.rpc.timeout", 20000);
    cap(conf, "hbase.client.operation.timeout", 30000);
    cap(conf, "hbase.client.meta.operation.timeout", 30000);
    cap(conf, "hbase.client.sync.wait.timeout.msec", 30000);
    cap(conf, "hbase.client.pause", 100);
    if (conf.get("hbase.test.retries") == null) {
      conf.set("hbase.test.retries", "5");
    }
  }

  private static void cap(Configuration conf, String name, int most) {
    if (conf.getInt(name, Integer.MAX_VALUE) > most) {
      conf.setInt(name, most);
    }
  }

  /** In place of the start of a mini cluster. One that was stopped and starts again (fresh is false) keeps its data. */
  public static void start(HBaseTestingUtility utility, boolean fresh) throws IOException {
    configure(utility.getConfiguration());
    if (fresh) {
      wipe();
      quotas(utility.getConfiguration().getBoolean("hbase.quota.enabled", false));
    }
    tellObserver(utility.getConfiguration().get("hbase.coprocessor.master.classes", ""));
  }

  /** TestMultiParallel asks whether its observer of the master was started; nothing else of it depends on that. */
  private static void tellObserver(String observer) throws IOException {
    if (!observer.endsWith("TestMultiParallel$MyMasterObserver")) {
      return;
    }
    try {
      Field start = Class.forName(observer).getDeclaredField("start");
      start.setAccessible(true);
      ((AtomicBoolean) start.get(null)).set(true);
    } catch (ReflectiveOperationException e) {
      throw new IOException(e);
    }
  }

  /** A mini cluster with quotas has their table from the start, and one without has none. */
  private static void quotas(boolean enabled) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    configure(conf);
    TableName table = TableName.valueOf("hbase", "quota");
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      if (admin.tableExists(table)) {
        drop(admin, table);
      }
      if (enabled) {
        admin.exceedThrottleQuotaSwitch(false);
      }
    }
  }

  /** Drops the tables of earlier tests, and sets the switches as in a new cluster. */
  static void wipe() {
    Configuration conf = HBaseConfiguration.create();
    configure(conf);
    try (Connection connection = ConnectionFactory.createConnection(conf); Admin admin = connection.getAdmin()) {
      for (TableName table : admin.listTableNames()) {
        drop(admin, table);
      }
      admin.balancerSwitch(true, true);
      admin.splitSwitch(true, true);
      admin.mergeSwitch(true, true);
    } catch (Exception e) {
      System.err.println("SUITE-WIPE: failed: " + e);
    }
  }

  private static void drop(Admin admin, TableName table) {
    try {
      if (!admin.isTableDisabled(table)) {
        admin.disableTable(table);
      }
      admin.deleteTable(table);
    } catch (Exception e) {
      System.err.println("SUITE-WIPE: " + table + " stays: " + e);
    }
  }

  /** The live region servers, in the order of their names. */
  static List<ServerName> servers(HBaseTestingUtility utility) throws IOException {
    return new ArrayList<>(new TreeSet<>(utility.getAdmin().getClusterMetrics().getLiveServerMetrics().keySet()));
  }

  /** Where each region is, that of hbase:meta included; asked anew. */
  static List<HRegionLocation> locations(HBaseTestingUtility utility) throws IOException {
    List<TableName> tables = new ArrayList<>(List.of(utility.getAdmin().listTableNames()));
    tables.add(TableName.META_TABLE_NAME);
    List<HRegionLocation> locations = new ArrayList<>();
    for (TableName table : tables) {
      try (RegionLocator locator = utility.getConnection().getRegionLocator(table)) {
        locator.clearRegionLocationCache();
        locations.addAll(locator.getAllRegionLocations());
      }
    }
    return locations;
  }
}
