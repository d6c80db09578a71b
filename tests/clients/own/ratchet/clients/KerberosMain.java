package ratchet.clients;

import static ratchet.clients.Session.bytes;

import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.token.ClientTokenUtil;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * HBase's own Java client with Kerberos. Arguments: PRINCIPAL KEYTAB ACTION [ARGUMENT]; the keytab "cache" takes the
 * tickets that kinit has stored. Actions: use (everything works), read ROWS (another user's table is read), refused
 * TEXT (the error has the text, and does not come after many retries), as USER ACTION (acts for another user), token
 * FILE (asks for a token).
 */
public final class KerberosMain {
  private static final long SOON_MILLIS = 60_000;
  private static final String TABLE = "kerberos";

  private KerberosMain() {}

  public static void main(String[] arguments) {
    boolean passed = false;
    long began = System.nanoTime();
    String expected = expectedRefusal(arguments);
    try {
      passed = logIn(arguments[0], arguments[1]).doAs((PrivilegedExceptionAction<Boolean>) () -> act(arguments, 2))
          && expected == null;
      if (expected != null) System.out.println("FAIL no refusal");
    } catch (Throwable error) {
      passed = expected != null && refused(error, expected, (System.nanoTime() - began) / 1_000_000);
      if (!passed) error.printStackTrace(System.out);
    }
    System.out.println((passed ? "PASS " : "FAIL ") + String.join(" ", arguments));
    System.out.flush();
    Runtime.getRuntime().halt(passed ? 0 : 1);
  }

  private static UserGroupInformation logIn(String principal, String keytab) throws Exception {
    UserGroupInformation.setConfiguration(HBaseConfiguration.create());
    if (keytab.equals("cache")) return UserGroupInformation.getLoginUser();
    UserGroupInformation.loginUserFromKeytab(principal, keytab);
    return UserGroupInformation.getLoginUser();
  }

  private static boolean act(String[] arguments, int at) throws Exception {
    return switch (arguments[at]) {
      case "use" -> use();
      case "read" -> read(arguments[at + 1]);
      case "refused" -> {
        readOnce();
        yield true;
      }
      case "as" -> {
        UserGroupInformation other =
            UserGroupInformation.createProxyUser(arguments[at + 1], UserGroupInformation.getCurrentUser());
        yield other.doAs((PrivilegedExceptionAction<Boolean>) () -> act(arguments, at + 2));
      }
      default -> token(arguments[at + 1]);
    };
  }

  private static boolean use() throws Exception {
    Checks checks = new Checks();
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    for (String registry : new String[] {"ZKConnectionRegistry", "RpcConnectionRegistry"}) {
      checks.check(registry + ": a table is made, written and read with Kerberos", () ->
          user.doAs((PrivilegedExceptionAction<Void>) () -> {
            useTable(new Session(registry));
            return null;
          }));
    }
    return checks.summary();
  }

  /** Large values span units of a protected connection, in both directions. */
  private static void useTable(Session session) throws Exception {
    if (session.admin.tableExists(session.name(TABLE))) {
      session.admin.disableTable(session.name(TABLE));
      session.admin.deleteTable(session.name(TABLE));
    }
    session.admin.createTable(session.table(TABLE));
    Table table = session.connection.getTable(session.name(TABLE));
    String large = "v".repeat(3_000_000);
    table.put(Session.put("r1", "q", "v1"));
    table.put(Session.put("r2", "q", large));
    Checks.equal("v1", Session.text(table.get(new Get(bytes("r1"))).value()));
    Checks.equal(large, Session.text(table.get(new Get(bytes("r2"))).value()));
    Checks.equal("r1:1,r2:1", Session.rows(table, new Scan()));
  }

  private static boolean read(String rows) throws Exception {
    Session session = new Session("ZKConnectionRegistry", 1);
    Checks.equal(rows, Session.rows(session.connection.getTable(session.name(TABLE)), new Scan()));
    return true;
  }

  private static void readOnce() throws Exception {
    Session session = new Session("ZKConnectionRegistry", 1);
    session.connection.getTable(session.name(TABLE)).get(new Get(bytes("r1")));
  }

  private static boolean token(String file) throws Exception {
    Session session = new Session("ZKConnectionRegistry");
    Token<?> token = ClientTokenUtil.obtainToken(session.connection);
    Credentials credentials = new Credentials();
    credentials.addToken(token.getService(), token);
    credentials.writeTokenStorageFile(
        new org.apache.hadoop.fs.Path(Path.of(file).toUri()), new Configuration(false));
    return true;
  }

  /** The text after the word "refused", or null. */
  private static String expectedRefusal(String[] arguments) {
    for (int at = 2; at + 1 < arguments.length; at++) {
      if (arguments[at].equals("refused")) return arguments[at + 1];
    }
    return null;
  }

  private static boolean refused(Throwable error, String expected, long millis) {
    StringBuilder causes = new StringBuilder();
    for (Throwable at = error; at != null; at = at.getCause()) causes.append(at).append('\n');
    System.out.println("refused after " + millis + " ms: " + causes);
    return causes.indexOf(expected) >= 0 && millis < SOON_MILLIS;
  }
}
