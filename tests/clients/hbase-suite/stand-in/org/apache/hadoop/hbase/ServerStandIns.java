package org.apache.hadoop.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.JVMClusterUtil;

/** Stand-ins of region servers and their regions. */
final class ServerStandIns {
  private ServerStandIns() {}

  static HRegion region(HBaseTestingUtility utility, RegionInfo region) {
    return StandIn.of(HRegion.class, (method, arguments) -> {
      switch (method.getName()) {
        case "getRegionInfo":
          return region;
        case "getTableDescriptor":
          return utility.getAdmin().getDescriptor(region.getTable());
        case "getCoprocessorHost":
          return SecurityStandIns.regionHost();
        default:
          return StandIn.NO_ANSWER;
      }
    });
  }

  static List<HRegion> regionsOf(HBaseTestingUtility utility, TableName table) throws IOException {
    List<HRegion> regions = new ArrayList<>();
    for (RegionInfo each : utility.getAdmin().getRegions(table)) {
      regions.add(region(utility, each));
    }
    return regions;
  }

  static HRegionServer server(HBaseTestingUtility utility, ServerName server) {
    return StandIn.of(HRegionServer.class, (method, arguments) -> {
      switch (method.getName()) {
        case "getServerName":
          return server;
        case "getConnection":
          return utility.getConnection();
        case "getConfiguration":
          return utility.getConfiguration();
        case "getRegions":
          return regionsOn(utility, server, arguments.length == 0 ? null : arguments[0]);
        case "getOnlineRegionsLocalContext":
          if (server.equals(ExternalCluster.servers(utility).get(0))) {
            SecurityStandIns.awaitAclTable();
          }
          return regionsOn(utility, server, null);
        case "getRegionServerCoprocessorHost":
          return SecurityStandIns.serverHost();
        case "getNumberOfOnlineRegions":
          return utility.getAdmin().getRegions(server).size();
        case "getOnlineRegion":
          return regionOn(utility, server, (byte[]) arguments[0]);
        default:
          return StandIn.NO_ANSWER;
      }
    });
  }

  private static List<HRegion> regionsOn(HBaseTestingUtility utility, ServerName server, Object table)
      throws IOException {
    List<HRegion> regions = new ArrayList<>();
    for (RegionInfo each : utility.getAdmin().getRegions(server)) {
      if (table == null || each.getTable().equals(table)) {
        regions.add(region(utility, each));
      }
    }
    return regions;
  }

  private static HRegion regionOn(HBaseTestingUtility utility, ServerName server, byte[] name) throws IOException {
    for (RegionInfo each : utility.getAdmin().getRegions(server)) {
      if (Arrays.equals(each.getRegionName(), name)) {
        return region(utility, each);
      }
    }
    return null;
  }

  static List<JVMClusterUtil.RegionServerThread> threads(HBaseTestingUtility utility) throws IOException {
    List<JVMClusterUtil.RegionServerThread> threads = new ArrayList<>();
    for (ServerName server : ExternalCluster.servers(utility)) {
      threads.add(StandIn.of(JVMClusterUtil.RegionServerThread.class, (method, arguments) -> {
        return method.getName().equals("getRegionServer") ? server(utility, server) : StandIn.NO_ANSWER;
      }));
    }
    return threads;
  }
}
