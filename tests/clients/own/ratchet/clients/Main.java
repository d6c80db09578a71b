package ratchet.clients;

import java.util.ArrayList;
import java.util.List;

/**
 * HBase's own Java client against a Ratchet cluster. Settings are system properties, which tests/clients/run gives:
 * clients.zookeeper.port, clients.masters (HOST:PORT,...), clients.bin (folder of the programs), clients.cluster (the
 * cluster's directory; the last checks kill a region server and the active master of it).
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Checks checks = new Checks();
    List<Session> sessions = new ArrayList<>();
    for (String registry : List.of("ZKConnectionRegistry", "RpcConnectionRegistry")) {
      Session session = new Session(registry);
      sessions.add(session);
      new DataChecks(checks, session).run();
      new ScanChecks(checks, session).run();
      new CellBlockChecks(checks, session).run();
      new AdminChecks(checks, session).run();
    }
    for (Session session : sessions) {
      new StaleCacheChecks(checks, session, new Session(session.registry)).run();
    }
    new FailoverChecks(checks, sessions).run();
    boolean passed = checks.summary();
    System.out.flush();
    // Threads of the connections would hold the program for some time.
    Runtime.getRuntime().halt(passed ? 0 : 1);
  }
}
