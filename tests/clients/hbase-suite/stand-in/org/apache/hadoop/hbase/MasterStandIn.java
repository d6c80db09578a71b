package org.apache.hadoop.hbase;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableState;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.TableStateManager;
import org.apache.hadoop.hbase.master.assignment.AssignmentManager;
import org.apache.hadoop.hbase.master.assignment.RegionStates;

/** Stand-in of the active master: descriptors, states of tables, where regions are. */
final class MasterStandIn {
  private final HBaseTestingUtility utility;

  private MasterStandIn(HBaseTestingUtility utility) {
    this.utility = utility;
  }

  static HMaster of(HBaseTestingUtility utility) {
    return StandIn.of(HMaster.class, new MasterStandIn(utility)::answer);
  }

  private Object answer(Method method, Object[] arguments) throws IOException {
    switch (method.getName()) {
      case "getServerName":
        return utility.getAdmin().getMaster();
      case "getConnection":
        return utility.getConnection();
      case "getConfiguration":
        return utility.getConfiguration();
      case "getTableDescriptors":
        return StandIn.of(TableDescriptors.class, this::descriptor);
      case "getTableStateManager":
        return StandIn.of(TableStateManager.class, this::tableState);
      case "getAssignmentManager":
        return StandIn.of(AssignmentManager.class, this::assignment);
      case "getMasterCoprocessorHost":
        return SecurityStandIns.masterHost();
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private Object descriptor(Method method, Object[] arguments) throws IOException {
    if (!method.getName().equals("get")) {
      return StandIn.NO_ANSWER;
    }
    try {
      return utility.getAdmin().getDescriptor((TableName) arguments[0]);
    } catch (TableNotFoundException e) {
      return null;
    }
  }

  private Object tableState(Method method, Object[] arguments) throws IOException {
    if (arguments.length == 0) {
      return StandIn.NO_ANSWER;
    }
    TableState state = MetaTableAccessor.getTableState(utility.getConnection(), (TableName) arguments[0]);
    switch (method.getName()) {
      case "getTableState":
        return state;
      case "isTablePresent":
        return state != null;
      case "isTableState":
        boolean packed = arguments.length == 2 && arguments[1] instanceof Object[];
        Object[] wanted = packed ? (Object[]) arguments[1] : Arrays.copyOfRange(arguments, 1, arguments.length);
        return state != null && Arrays.asList(wanted).contains(state.getState());
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private Object assignment(Method method, Object[] arguments) throws IOException {
    switch (method.getName()) {
      case "waitForAssignment":
        utility.waitUntilAllRegionsAssigned(((RegionInfo) arguments[0]).getTable());
        return true;
      case "hasRegionsInTransition":
        return !utility.getAdmin().getClusterMetrics().getRegionStatesInTransition().isEmpty();
      case "getRegionStates":
        return StandIn.of(RegionStates.class, this::regionStates);
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private Object regionStates(Method method, Object[] arguments) throws IOException {
    switch (method.getName()) {
      case "getRegionsOfTable":
        return arguments.length == 1 ? utility.getAdmin().getRegions((TableName) arguments[0]) : StandIn.NO_ANSWER;
      case "getRegionServerOfRegion":
        return serverOf((RegionInfo) arguments[0]);
      case "isRegionOnline":
        return isOnline((RegionInfo) arguments[0]);
      case "getRegionAssignments":
        Map<RegionInfo, ServerName> assignments = new TreeMap<>();
        for (HRegionLocation each : ExternalCluster.locations(utility)) {
          assignments.put(each.getRegion(), each.getServerName());
        }
        return assignments;
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private ServerName serverOf(RegionInfo region) throws IOException {
    for (HRegionLocation each : ExternalCluster.locations(utility)) {
      if (each.getRegion().getEncodedName().equals(region.getEncodedName())) {
        return each.getServerName();
      }
    }
    return null;
  }

  private boolean isOnline(RegionInfo region) throws IOException {
    for (ServerName server : ExternalCluster.servers(utility)) {
      for (RegionInfo each : utility.getAdmin().getRegions(server)) {
        if (each.getEncodedName().equals(region.getEncodedName())) {
          return true;
        }
      }
    }
    return false;
  }
}
