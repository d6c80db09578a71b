package ratchet.load;

import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Table;

/** By HBase's blocking Table, which is not thread-safe: one for each operation. */
final class BlockingRegisters implements Registers {
  private final Connection connection;
  private final TableName name;
  private final Requests requests;

  BlockingRegisters(Connection connection, TableName name, Requests requests) {
    this.connection = connection;
    this.name = name;
    this.requests = requests;
  }

  @Override
  public byte[] get(byte[] row, byte[] qualifier) throws Exception {
    try (Table table = connection.getTable(name)) {
      return table.get(requests.get(row, qualifier)).getValue(requests.family(), qualifier);
    }
  }

  @Override
  public void put(byte[] row, byte[] qualifier, byte[] value) throws Exception {
    try (Table table = connection.getTable(name)) {
      table.put(requests.put(row, qualifier, value));
    }
  }

  @Override
  public void delete(byte[] row, byte[] qualifier) throws Exception {
    try (Table table = connection.getTable(name)) {
      table.delete(requests.delete(row, qualifier));
    }
  }

  @Override
  public byte[] append(byte[] row, byte[] qualifier, byte[] suffix) throws Exception {
    try (Table table = connection.getTable(name)) {
      return table.append(requests.append(row, qualifier, suffix)).getValue(requests.family(), qualifier);
    }
  }

  @Override
  public byte[] increment(byte[] row, byte[] qualifier, long amount) throws Exception {
    try (Table table = connection.getTable(name)) {
      return table.increment(requests.increment(row, qualifier, amount)).getValue(requests.family(), qualifier);
    }
  }

  @Override
  public boolean checkAndMutate(byte[] row, byte[] qualifier, byte[] expected, byte[] value) throws Exception {
    try (Table table = connection.getTable(name)) {
      return table.checkAndMutate(requests.checkAndMutate(row, qualifier, expected, value)).isSuccess();
    }
  }
}
