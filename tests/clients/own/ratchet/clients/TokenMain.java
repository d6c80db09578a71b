package ratchet.clients;

import static ratchet.clients.Session.bytes;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.token.ClientTokenUtil;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * HBase's own Java client with a token, without a KDC. The file of the token is HADOOP_TOKEN_FILE_LOCATION. Arguments:
 * use (everything works, and the token makes no other token), refused NAME (the token is refused soon), spoil FILE NEW (a
 * copy of the file with a wrong password), or obtain FILE (a client with a certificate asks for a token and writes the
 * file).
 */
public final class TokenMain {
  private TokenMain() {}

  public static void main(String[] arguments) throws Exception {
    boolean passed =
        switch (arguments[0]) {
          case "use" -> use();
          case "refused" -> refused(arguments[1]);
          case "spoil" -> spoil(arguments[1], arguments[2]);
          default -> obtain(arguments[1]);
        };
    System.out.flush();
    Runtime.getRuntime().halt(passed ? 0 : 1);
  }

  private static boolean use() throws Exception {
    Checks checks = new Checks();
    for (String registry : new String[] {"ZKConnectionRegistry", "RpcConnectionRegistry"}) {
      Session session = new Session(registry);
      checks.check(registry + ": a table is used with a token", () -> useTable(session));
      checks.check(registry + ": a token makes no token", () -> expectRefused(session));
    }
    return checks.summary();
  }

  private static void useTable(Session session) throws Exception {
    session.admin.createTable(session.table("tokens"));
    Table table = session.connection.getTable(session.name("tokens"));
    table.put(Session.put("r", "q", "v"));
    Checks.equal("v", Session.text(table.get(new Get(bytes("r"))).value()));
    Checks.equal("r:1", Session.rows(table, new Scan()));
    table.delete(new Delete(bytes("r")));
    session.admin.disableTable(table.getName());
    session.admin.deleteTable(table.getName());
  }

  private static void expectRefused(Session session) {
    try {
      ClientTokenUtil.obtainToken(session.connection);
    } catch (Exception refusal) {
      Checks.equal(true, TlsMain.causes(refusal).contains("tokens are issued only"));
      return;
    }
    throw new AssertionError("a client with a token got another one");
  }

  private static boolean refused(String what) {
    Checks checks = new Checks();
    checks.check(
        what + " is refused soon",
        () -> TlsMain.expectRefusal(
            "token refused", () -> new Session("ZKConnectionRegistry", 1).admin.listTableNames()));
    return checks.summary();
  }

  /** Writes the token's file again, with another password. */
  private static boolean spoil(String from, String to) throws Exception {
    Configuration conf = new Configuration(false);
    Credentials spoiled = new Credentials();
    for (Token<?> token : Credentials.readTokenStorageFile(new java.io.File(from), conf).getAllTokens()) {
      byte[] password = token.getPassword().clone();
      password[0] ^= 1;
      spoiled.addToken(
          token.getService(), new Token<>(token.getIdentifier(), password, token.getKind(), token.getService()));
    }
    spoiled.writeTokenStorageFile(new org.apache.hadoop.fs.Path(Path.of(to).toUri()), conf);
    return spoiled.numberOfTokens() == 1;
  }

  private static boolean obtain(String file) throws Exception {
    Session session = new Session("ZKConnectionRegistry");
    Token<?> token = ClientTokenUtil.obtainToken(session.connection);
    Credentials credentials = new Credentials();
    credentials.addToken(token.getService(), token);
    credentials.writeTokenStorageFile(
        new org.apache.hadoop.fs.Path(Path.of(file).toUri()), new Configuration(false));
    System.out.println("a token of " + token.getKind() + " for " + UserGroupInformation.getCurrentUser().getShortUserName());
    return true;
  }
}
