package ratchet.clients;

import static ratchet.clients.Checks.await;
import static ratchet.clients.Checks.equal;
import static ratchet.clients.Checks.require;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Table;

/** The server with hbase:meta and then the active master are killed while clients of both registries write. */
final class FailoverChecks {
  private final Checks checks;
  private final List<Session> sessions;

  FailoverChecks(Checks checks, List<Session> sessions) {
    this.checks = checks;
    this.sessions = sessions;
  }

  /** Writes row after row until it is told to stop; a row counts when its put has returned. */
  private static final class Writer {
    private final Session session;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final Thread thread = new Thread(this::write);
    private volatile Exception failure;

    Writer(Session session) {
      this.session = session;
      thread.setDaemon(true);
      thread.start();
    }

    private static String row(int i) {
      return String.format("%x-%06d", i % 16, i);
    }

    private void write() {
      try (Table table = session.connection.getTable(session.name("failover"))) {
        while (!stop.get()) {
          table.put(put(row(acknowledged.get()), "q", "v"));
          acknowledged.incrementAndGet();
        }
      } catch (Exception e) {
        failure = e;
      }
    }

    void awaitMore(int rows) throws Exception {
      int target = acknowledged.get() + rows;
      await(rows + " more rows by " + session.registry, () -> {
        if (failure != null) {
          throw failure;
        }
        return acknowledged.get() >= target;
      });
    }

    int end() throws Exception {
      stop.set(true);
      thread.join(TimeUnit.SECONDS.toMillis(60));
      require(!thread.isAlive(), "the writer hangs");
      if (failure != null) {
        throw failure;
      }
      return acknowledged.get();
    }
  }

  void run() throws Exception {
    List<Writer> writers = new ArrayList<>();
    for (Session session : sessions) {
      byte[][] keys = {bytes("4"), bytes("8"), bytes("c")};
      session.admin.createTable(session.table("failover"), keys);
      writers.add(new Writer(session));
    }
    Session any = sessions.get(0);
    ServerName[] killed = new ServerName[2];
    checks.check("failover: writes go on after the server with hbase:meta is killed", () -> {
      more(writers);
      try (RegionLocator locator = any.connection.getRegionLocator(TableName.META_TABLE_NAME)) {
        killed[0] = locator.getRegionLocation(bytes(""), true).getServerName();
      }
      cluster("kill", process(killed[0]));
      await("the master has seen it", () -> !any.admin.getRegionServers().contains(killed[0]));
      more(writers);
    });
    checks.check("failover: writes go on after the active master is killed", () -> {
      killed[1] = any.admin.getMaster();
      cluster("kill", process(killed[1]));
      for (Session session : sessions) {
        await("another master", () -> {
          ServerName master = session.admin.getMaster();
          return master != null && !master.equals(killed[1]);
        });
        session.admin.createTable(session.table("after"));
      }
      more(writers);
    });
    for (Writer writer : writers) {
      checks.check("failover: every acknowledged row is there, by " + writer.session.registry, () -> everyRow(writer));
    }
  }

  private static void more(List<Writer> writers) throws Exception {
    for (Writer writer : writers) {
      writer.awaitMore(200);
    }
  }

  private static void everyRow(Writer writer) throws Exception {
    int rows = writer.end();
    System.out.println("     " + rows + " rows were acknowledged");
    try (Table table = writer.session.connection.getTable(writer.session.name("failover"))) {
      for (int first = 0; first < rows; first += 1000) {
        List<Get> gets = new ArrayList<>();
        for (int i = first; i < Math.min(rows, first + 1000); i++) {
          gets.add(new Get(bytes(Writer.row(i))));
        }
        boolean[] there = table.exists(gets);
        for (int i = 0; i < there.length; i++) {
          equal(Writer.row(first + i) + " true", Writer.row(first + i) + " " + there[i]);
        }
      }
    }
  }

  /** The name that ratchet-cluster gives to the process with this port. */
  private static String process(ServerName server) throws Exception {
    for (String line : cluster("status").split("\n")) {
      String[] words = line.trim().split("\\s+");
      if (words.length > 3 && words[3].equals(String.valueOf(server.getPort()))) {
        return words[0];
      }
    }
    throw new AssertionError("ratchet-cluster status shows no process with the port of " + server);
  }

  private static String cluster(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(System.getProperty("clients.bin") + "/ratchet-cluster"));
    command.addAll(List.of(words));
    command.addAll(List.of("--dir", System.getProperty("clients.cluster")));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).directory(new File(".")).start();
    String output = new String(process.getInputStream().readAllBytes());
    equal(command + " 0 " + output, command + " " + process.waitFor() + " " + output);
    return output;
  }
}
