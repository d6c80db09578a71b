package ratchet.clients;

import static ratchet.clients.Session.bytes;

import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;

/**
 * HBase's own Java client by TLS; hbase-site.xml names its files. Arguments: use NAME (a table is written and read), or
 * refused NAME TEXT (the first call fails within ten seconds, and its error has the text, which is a regular
 * expression).
 */
public final class TlsMain {
  static final long SOON_MILLIS = 10_000;

  private TlsMain() {}

  public static void main(String[] arguments) {
    Checks checks = new Checks();
    for (String registry : new String[] {"ZKConnectionRegistry", "RpcConnectionRegistry"}) {
      String name = registry + ": " + arguments[1];
      checks.check(
          name,
          arguments[0].equals("use") ? () -> use(registry) : () -> refusedSoon(registry, arguments[2]));
    }
    boolean passed = checks.summary();
    System.out.flush();
    Runtime.getRuntime().halt(passed ? 0 : 1);
  }

  private static void use(String registry) throws Exception {
    Session session = new Session(registry);
    session.admin.createTable(session.table("tls"));
    Table table = session.connection.getTable(session.name("tls"));
    table.put(Session.put("r", "q", "v"));
    Checks.equal("v", Session.text(table.get(new Get(bytes("r"))).value()));
    session.admin.disableTable(table.getName());
    session.admin.deleteTable(table.getName());
  }

  private static void refusedSoon(String registry, String text) {
    expectRefusal(text, () -> new Session(registry, 1).admin.listTableNames());
  }

  /** The call fails soon, and its error has the text. The first call, which loads the client's classes, is not timed. */
  static void expectRefusal(String text, Checks.Body call) {
    for (boolean timed : new boolean[] {false, true}) {
      long began = System.nanoTime();
      String why = errorOf(call);
      long millis = (System.nanoTime() - began) / 1_000_000;
      System.out.println("refused after " + millis + " ms: " + why);
      Checks.require(why.matches("(?s).*(" + text + ").*"), "the error does not have '" + text + "': " + why);
      Checks.require(!timed || millis < SOON_MILLIS, "refused after " + millis + " ms only");
    }
  }

  /** The whole texts of the error and its causes. */
  static String causes(Throwable error) {
    StringBuilder all = new StringBuilder();
    for (Throwable at = error; at != null; at = at.getCause()) all.append(at).append('\n');
    return all.toString();
  }

  private static String errorOf(Checks.Body call) {
    try {
      call.run();
    } catch (Exception refusal) {
      return causes(refusal);
    }
    throw new AssertionError("this client was let in");
  }
}
