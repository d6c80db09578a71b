package ratchet.clients;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Connections by one registry, and what the checks share. Names of tables begin with the registry's. */
final class Session {
  static final byte[] F = bytes("f");
  static final byte[] G = bytes("g");

  final String registry;
  final Connection connection;
  final AsyncConnection async;
  final Admin admin;

  /** registry: ZKConnectionRegistry or RpcConnectionRegistry. */
  Session(String registry) throws Exception {
    this(registry, 30);
  }

  Session(String registry, int retries) throws Exception {
    this.registry = registry;
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client." + registry);
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.set("hbase.zookeeper.property.clientPort", System.getProperty("clients.zookeeper.port"));
    conf.set("hbase.client.bootstrap.servers", System.getProperty("clients.masters"));
    conf.setInt("hbase.client.retries.number", retries);
    conf.setInt("hbase.rpc.timeout", 20_000);
    conf.setInt("hbase.client.operation.timeout", 60_000);
    connection = ConnectionFactory.createConnection(conf);
    async = ConnectionFactory.createAsyncConnection(conf).get(30, TimeUnit.SECONDS);
    admin = connection.getAdmin();
  }

  static byte[] bytes(String text) {
    return Bytes.toBytes(text);
  }

  static String text(byte[] value) {
    return Bytes.toStringBinary(value);
  }

  static Put put(String row, String qualifier, String value) {
    return new Put(bytes(row)).addColumn(F, bytes(qualifier), bytes(value));
  }

  TableName name(String of) {
    return TableName.valueOf(registry + "_" + of);
  }

  /** A table with the families f (5 versions) and g. */
  TableDescriptor table(String of) {
    return TableDescriptorBuilder.newBuilder(name(of))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(F).setMaxVersions(5).build())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G))
        .build();
  }

  /** What the scan gives: ROW:CELLS,ROW:CELLS. */
  static String rows(Table table, Scan scan) throws Exception {
    StringBuilder text = new StringBuilder();
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        text.append(text.length() > 0 ? "," : "").append(Bytes.toString(result.getRow()));
        text.append(':').append(result.size());
      }
    }
    return text.toString();
  }
}
