package org.apache.hadoop.hbase;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.RegionLocator;

/** Stand-in of the mini cluster. */
final class ClusterStandIn {
  private static final Set<String> NOTHING = Set.of("close", "shutdown", "waitUntilShutDown", "finalize");

  private static final long COMPACTION_MS = 60_000;

  private final HBaseTestingUtility utility;

  private ClusterStandIn(HBaseTestingUtility utility) {
    this.utility = utility;
  }

  static MiniHBaseCluster of(HBaseTestingUtility utility) {
    return StandIn.of(MiniHBaseCluster.class, new ClusterStandIn(utility)::answer);
  }

  private Object answer(Method method, Object[] arguments) throws IOException {
    String name = method.getName();
    if (NOTHING.contains(name)) {
      return null;
    }
    switch (name) {
      case "hashCode":
        return 1;
      case "getConf":
      case "getConfiguration":
        return utility.getConfiguration();
      case "isDistributedCluster":
        return true;
      case "waitForActiveAndReadyMaster":
        return method.getReturnType() == boolean.class ? (Object) true : null;
      case "getClusterMetrics":
      case "getInitialClusterMetrics":
        return utility.getAdmin().getClusterMetrics();
      case "getClusterStatus":
      case "getInitialClusterStatus":
        return utility.getAdmin().getClusterStatus();
      case "flushcache":
        return flush(arguments);
      case "compact":
        return compact(arguments);
      case "getMaster":
        return MasterStandIn.of(utility);
      default:
        return server(name, arguments);
    }
  }

  private Object server(String name, Object[] arguments) throws IOException {
    switch (name) {
      case "getServerHoldingRegion":
        return arguments.length == 2 ? holding((TableName) arguments[0], (byte[]) arguments[1]) : StandIn.NO_ANSWER;
      case "getServerHoldingMeta":
        return holding(TableName.META_TABLE_NAME, null);
      case "getServerWith":
        return serverWith((byte[]) arguments[0]);
      case "getNumLiveRegionServers":
        return ExternalCluster.servers(utility).size();
      case "getRegions":
        boolean ofTable = arguments.length == 1 && arguments[0] instanceof TableName;
        return ofTable ? ServerStandIns.regionsOf(utility, (TableName) arguments[0]) : StandIn.NO_ANSWER;
      case "getRegionServer":
        boolean named = arguments[0] instanceof ServerName;
        return ServerStandIns.server(utility,
            named ? (ServerName) arguments[0] : ExternalCluster.servers(utility).get((Integer) arguments[0]));
      case "getRegionServerThreads":
      case "getLiveRegionServerThreads":
        return ServerStandIns.threads(utility);
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private Object flush(Object[] arguments) throws IOException {
    if (arguments.length == 1) {
      utility.flush((TableName) arguments[0]);
    } else {
      utility.flush();
    }
    return null;
  }

  private Object compact(Object[] arguments) throws IOException {
    if (arguments.length != 2) {
      return StandIn.NO_ANSWER;
    }
    TableName table = (TableName) arguments[0];
    Admin admin = utility.getAdmin();
    if ((Boolean) arguments[1]) {
      admin.majorCompact(table);
    } else {
      admin.compact(table);
    }
    // The mini cluster's is over when it answers.
    utility.waitFor(COMPACTION_MS, () -> admin.getCompactionState(table) == CompactionState.NONE);
    return null;
  }

  /** region: null means the first one. */
  private ServerName holding(TableName table, byte[] region) throws IOException {
    try (RegionLocator locator = utility.getConnection().getRegionLocator(table)) {
      for (HRegionLocation each : locator.getAllRegionLocations()) {
        if (region == null || Arrays.equals(each.getRegion().getRegionName(), region)) {
          return each.getServerName();
        }
      }
    }
    return null;
  }

  private int serverWith(byte[] region) throws IOException {
    for (HRegionLocation each : ExternalCluster.locations(utility)) {
      if (Arrays.equals(each.getRegion().getRegionName(), region)) {
        return ExternalCluster.servers(utility).indexOf(each.getServerName());
      }
    }
    return -1;
  }
}
