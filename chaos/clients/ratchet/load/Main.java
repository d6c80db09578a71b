package ratchet.load;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;

/**
 * Executes the operations that the driver sends to its standard input, and answers on its standard output
 * (chaos/workloads/foreign_line.h). Ends with its input.
 *
 * <p>Arguments: ZOOKEEPER MASTERS TABLE FAMILY PAUSE_MS ATTEMPT_MS OPERATION_MS.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    // Nothing else may write into the answers.
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.US_ASCII);
    System.setOut(System.err);
    if (arguments.length != 7) {
      System.err.println("arguments: ZOOKEEPER MASTERS TABLE FAMILY PAUSE_MS ATTEMPT_MS OPERATION_MS");
      System.exit(2);
    }
    TableName table = TableName.valueOf(arguments[2]);
    Requests requests = new Requests(Bytes.toBytes(arguments[3]));
    long operationMs = Long.parseLong(arguments[6]);
    Pauses pauses = new Pauses(Long.parseLong(arguments[4]), operationMs);
    Registers blocking = new BlockingRegisters(
        ConnectionFactory.createConnection(settings(arguments, "ZKConnectionRegistry")), table, requests);
    Registers async = new AsyncRegisters(
        ConnectionFactory.createAsyncConnection(settings(arguments, "RpcConnectionRegistry")).get(60, TimeUnit.SECONDS),
        table, requests, 2 * operationMs);
    say(answers, "{\"ready\":\"HBase's Java client " + VersionInfo.getVersion() + "\"}");
    ExecutorService clients = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Operation operation = new Operation(line);
      Registers registers = operation.client() % 2 == 0 ? blocking : async;
      clients.execute(() -> say(answers, operation.execute(registers, pauses)));
    }
    // Threads of the connections would hold the program for some time.
    Runtime.getRuntime().halt(0);
  }

  private static void say(PrintStream answers, String line) {
    synchronized (answers) {
      answers.print(line + "\n");
      answers.flush();
    }
  }

  private static Configuration settings(String[] arguments, String registry) {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client." + registry);
    conf.set("hbase.zookeeper.quorum", arguments[0]);
    conf.set("hbase.client.bootstrap.servers", arguments[1]);
    conf.set("hbase.client.pause", arguments[4]);
    conf.set("hbase.client.pause.server.overloaded", arguments[4]);
    for (String kind : new String[] {"hbase.rpc.timeout", "hbase.rpc.read.timeout", "hbase.rpc.write.timeout"}) {
      conf.set(kind, arguments[5]);
    }
    conf.set("hbase.client.operation.timeout", arguments[6]);
    conf.set("hbase.client.meta.operation.timeout", arguments[6]);
    conf.setInt("hbase.client.retries.number", 30);
    return conf;
  }
}
