package ratchet.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.stumbleupon.async.Deferred;
import java.util.ArrayList;
import org.hbase.async.AtomicIncrementRequest;
import org.hbase.async.Config;
import org.hbase.async.DeleteRequest;
import org.hbase.async.GetRequest;
import org.hbase.async.HBaseClient;
import org.hbase.async.KeyValue;
import org.hbase.async.PutRequest;
import org.hbase.async.Scanner;

/**
 * asynchbase with Kerberos. Arguments: ZOOKEEPER PROTECTION use|refused TEXT. The Java login configuration names the
 * principal. use: the table "async" is written and read; refused: a read of it fails with the text.
 */
public final class AsyncMain {
  private static final long PATIENCE_MILLIS = 60_000;
  private static final String TABLE = "async";
  private static final String FAMILY = "f";

  private AsyncMain() {}

  public static void main(String[] arguments) {
    boolean passed = false;
    try {
      HBaseClient client = connect(arguments[0], arguments[1]);
      passed = arguments[2].equals("use") ? use(client) : refused(client, arguments[3]);
    } catch (Throwable error) {
      error.printStackTrace(System.out);
    }
    System.out.println((passed ? "PASS " : "FAIL ") + "asynchbase " + String.join(" ", arguments));
    System.out.flush();
    Runtime.getRuntime().halt(passed ? 0 : 1);
  }

  private static HBaseClient connect(String zookeeper, String protection) {
    Config config = new Config();
    config.overrideConfig("hbase.zookeeper.quorum", zookeeper);
    config.overrideConfig("hbase.security.auth.enable", "true");
    config.overrideConfig("hbase.security.authentication", "kerberos");
    config.overrideConfig("hbase.kerberos.regionserver.principal", "hbase/localhost@TEST");
    config.overrideConfig("hbase.sasl.clientconfig", "asynchbase");
    config.overrideConfig("hbase.rpc.protection", protection);
    // Otherwise it asks hbase:meta with a request that HBase has removed in version 2.
    config.overrideConfig("hbase.meta.scan", "true");
    return new HBaseClient(config);
  }

  private static <T> T wait(Deferred<T> answer) throws Exception {
    return answer.join(PATIENCE_MILLIS);
  }

  /** asynchbase can read an answer only if one unit of a protected connection holds it: up to 64 KiB. */
  private static boolean use(HBaseClient client) throws Exception {
    String large = "v".repeat(50_000);
    wait(client.put(new PutRequest(TABLE, "r1", FAMILY, "q", "v1")));
    wait(client.put(new PutRequest(TABLE, "r2", FAMILY, "q", large)));
    wait(client.delete(new DeleteRequest(TABLE, "r3")));
    wait(client.atomicIncrement(new AtomicIncrementRequest(TABLE, "r3", FAMILY, "n", 7)));
    ArrayList<KeyValue> row = wait(client.get(new GetRequest(TABLE, "r2")));
    Scanner scanner = client.newScanner(TABLE);
    int rows = 0;
    for (ArrayList<ArrayList<KeyValue>> some; (some = wait(scanner.nextRows())) != null; ) rows += some.size();
    wait(client.shutdown());
    System.out.println("read " + row.size() + " cells and " + rows + " rows");
    return row.size() == 1 && new String(row.get(0).value(), UTF_8).equals(large) && rows == 3;
  }

  private static boolean refused(HBaseClient client, String expected) {
    try {
      wait(client.get(new GetRequest(TABLE, "r1")));
      System.out.println("no refusal");
      return false;
    } catch (Exception error) {
      StringBuilder causes = new StringBuilder();
      for (Throwable at = error; at != null; at = at.getCause()) causes.append(at).append('\n');
      System.out.println("refused: " + causes);
      return causes.indexOf(expected) >= 0;
    }
  }
}
