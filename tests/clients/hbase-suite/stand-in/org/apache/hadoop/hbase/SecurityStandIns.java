package org.apache.hadoop.hbase;

import java.lang.reflect.Method;
import org.apache.hadoop.hbase.master.MasterCoprocessorHost;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.regionserver.RegionServerCoprocessorHost;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.hadoop.hbase.security.access.SecureTestUtil;
import org.apache.hadoop.hbase.security.access.SyncObserverStandIn;

/**
 * Stand-ins of the hosts of coprocessors, for HBase's tests of rights: the preparations of these tests load the
 * AccessController and look for it. A test that calls it is not applicable.
 */
final class SecurityStandIns {
  private SecurityStandIns() {}

  /** HBase's tests wait here for the servers' copies of the rights, and then read hbase:acl. */
  static void awaitAclTable() {
    SyncObserverStandIn.awaitAclTable();
  }

  static MasterCoprocessorHost masterHost() {
    return StandIn.of(MasterCoprocessorHost.class, SecurityStandIns::answer);
  }

  static RegionServerCoprocessorHost serverHost() {
    return StandIn.of(RegionServerCoprocessorHost.class, SecurityStandIns::answer);
  }

  /** No region has a controller whose copy of the rights lags: a grant is answered when each server has it. */
  static RegionCoprocessorHost regionHost() {
    return StandIn.of(RegionCoprocessorHost.class, (method, arguments) -> {
      if (method.getName().equals("findCoprocessor") && isNamed(arguments[0], AccessController.class)) {
        return null;
      }
      return answer(method, arguments);
    });
  }

  private static Object answer(Method method, Object[] arguments) {
    switch (method.getName()) {
      case "load":
      case "createEnvironment":
        return isNamed(arguments[0], AccessController.class) || arguments[0] instanceof AccessController
            ? null
            : StandIn.NO_ANSWER;
      case "findCoprocessor":
        if (isNamed(arguments[0], AccessController.class)) {
          return StandIn.of(AccessController.class, (call, values) -> StandIn.NO_ANSWER);
        }
        return isNamed(arguments[0], SecureTestUtil.MasterSyncObserver.class)
            ? SyncObserverStandIn.get()
            : StandIn.NO_ANSWER;
      default:
        return StandIn.NO_ANSWER;
    }
  }

  private static boolean isNamed(Object asked, Class<?> type) {
    return type.equals(asked) || type.getName().equals(asked);
  }
}
