package ratchet.clients;

import static ratchet.clients.Checks.await;
import static ratchet.clients.Checks.equal;
import static ratchet.clients.Checks.refused;
import static ratchet.clients.Checks.require;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;
import static ratchet.clients.Session.rows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/** Tables, regions and the cluster through Admin. */
final class AdminChecks {
  private static final int ROWS = 100;

  private final Checks checks;
  private final Session session;
  private final Admin admin;

  AdminChecks(Checks checks, Session session) {
    this.checks = checks;
    this.session = session;
    this.admin = session.admin;
  }

  void run() throws Exception {
    tables();
    alterations();
    admin.createTable(session.table("regions"), new byte[][] {bytes("row050")});
    try (Table table = session.connection.getTable(session.name("regions"))) {
      List<Put> puts = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        puts.add(put(String.format("row%03d", i), "q", "v" + i));
      }
      table.put(puts);
      storage(table);
      moves(table);
      splitAndMerge(table);
    }
    dropped();
    cluster();
  }

  private void check(String name, Checks.Body body) {
    checks.check(session.registry + ": " + name, body);
  }

  private void tables() {
    TableName name = session.name("life");
    check("a table's life", () -> {
      admin.createTable(session.table("life"), bytes("a"), bytes("z"), 5);
      equal(5, admin.getRegions(name).size());
      equal(true, admin.isTableAvailable(name));
      refused("TableExistsException", () -> admin.createTable(session.table("life")));
      refused("TableNotDisabledException", () -> admin.deleteTable(name));
      require(admin.getDescriptor(name).equals(session.connection.getTable(name).getDescriptor()), "two descriptors");
      admin.disableTable(name);
      refused("TableNotEnabledException", () -> admin.disableTable(name));
      admin.enableTable(name);
      admin.disableTable(name);
      admin.deleteTable(name);
      equal(false, admin.tableExists(name));
      refused("TableNotFoundException", () -> admin.deleteTable(name));
    });
    check("truncated, with its regions and without", () -> {
      admin.createTable(session.table("truncated"), new byte[][] {bytes("m")});
      TableName truncated = session.name("truncated");
      try (Table table = session.connection.getTable(truncated)) {
        table.put(put("a", "q", "v"));
        admin.disableTable(truncated);
        admin.truncateTable(truncated, true);
        equal("", rows(table, new Scan()));
        equal(2, admin.getRegions(truncated).size());
      }
      admin.disableTable(truncated);
      admin.truncateTable(truncated, false);
      equal(1, admin.getRegions(truncated).size());
    });
  }

  private void alterations() {
    TableName name = session.name("altered");
    check("families come, change and go while the table is served", () -> {
      admin.createTable(session.table("altered"));
      byte[] h = bytes("h");
      admin.addColumnFamily(name, ColumnFamilyDescriptorBuilder.of(h));
      try (Table table = session.connection.getTable(name)) {
        table.put(new Put(bytes("r")).addColumn(h, bytes("q"), bytes("v")));
        admin.modifyColumnFamily(name, ColumnFamilyDescriptorBuilder.newBuilder(h).setMaxVersions(7).build());
        equal(7, admin.getDescriptor(name).getColumnFamily(h).getMaxVersions());
        admin.deleteColumnFamily(name, h);
        equal(true, table.get(new Get(bytes("r"))).isEmpty());
      }
      admin.modifyTable(TableDescriptorBuilder.newBuilder(session.table("altered")).setReadOnly(true).build());
      equal(true, admin.getDescriptor(name).isReadOnly());
    });
  }

  private void storage(Table table) {
    check("flush and compaction", () -> {
      admin.flush(table.getName());
      for (RegionInfo region : admin.getRegions(table.getName())) {
        admin.flushRegion(region.getRegionName());
      }
      admin.majorCompact(table.getName());
      await("the compaction ends", () -> admin.getCompactionState(table.getName()).name().equals("NONE"));
      equal(ROWS, count(table));
    });
  }

  private void moves(Table table) {
    check("a region moves to the server that is named", () -> {
      try (RegionLocator locator = session.connection.getRegionLocator(table.getName())) {
        HRegionLocation from = locator.getRegionLocation(bytes("row001"), true);
        ServerName to = admin.getRegionServers().stream().filter(s -> !s.equals(from.getServerName())).findFirst().get();
        admin.move(from.getRegion().getEncodedNameAsBytes(), to);
        await("it is there", () -> to.equals(locator.getRegionLocation(bytes("row001"), true).getServerName()));
      }
      equal(ROWS, count(table));
    });
    check("a region is closed and opened again", () -> {
      RegionInfo region = admin.getRegions(table.getName()).get(0);
      admin.unassign(region.getRegionName());
      admin.assign(region.getRegionName());
      equal(ROWS, count(table));
    });
  }

  private void splitAndMerge(Table table) {
    check("a region is split; the rows are there", () -> {
      RegionInfo first = admin.getRegions(table.getName()).get(0);
      admin.splitRegionAsync(first.getRegionName(), bytes("row025")).get(60, TimeUnit.SECONDS);
      equal(3, admin.getRegions(table.getName()).size());
      equal(ROWS, count(table));
      table.put(put("row025", "q", "after the split"));
      equal(ROWS, count(table));
    });
    check("three regions are merged; the rows are there", () -> {
      List<RegionInfo> regions = admin.getRegions(table.getName());
      byte[][] names = regions.stream().map(RegionInfo::getEncodedNameAsBytes).toArray(byte[][]::new);
      admin.mergeRegionsAsync(names, false).get(60, TimeUnit.SECONDS);
      equal(1, admin.getRegions(table.getName()).size());
      equal(ROWS, count(table));
    });
    check("switches of split and merge", () -> {
      admin.splitSwitch(false, true);
      equal(false, admin.isSplitEnabled());
      admin.splitSwitch(true, true);
      admin.mergeSwitch(false, true);
      equal(false, admin.isMergeEnabled());
      admin.mergeSwitch(true, true);
    });
  }

  // Whether or not the master has archived the regions that were split and merged.
  private void dropped() {
    check("a table is dropped after a split and a merge", () -> {
      TableName name = session.name("regions");
      admin.disableTable(name);
      admin.deleteTable(name);
      equal(false, admin.tableExists(name));
    });
  }

  private void cluster() {
    check("the cluster's metrics", () -> {
      ClusterMetrics metrics = admin.getClusterMetrics();
      equal(3, metrics.getLiveServerMetrics().size());
      equal(admin.getMaster(), metrics.getMasterName());
      equal(1, admin.getBackupMasters().size());
      ServerName server = admin.getRegionServers().iterator().next();
      equal(admin.getRegions(server).size(), admin.getRegionMetrics(server).size());
      require(admin.getProcedures().length() > 0, "no procedures are told");
      require(admin.getLocks() != null, "no locks are told");
    });
    check("the balancer's switch", () -> {
      admin.balancerSwitch(false, true);
      equal(false, admin.isBalancerEnabled());
      admin.balancerSwitch(true, true);
      equal(true, admin.isBalancerEnabled());
    });
  }

  private static int count(Table table) throws Exception {
    return rows(table, new Scan().addFamily(F)).split(",").length;
  }
}
