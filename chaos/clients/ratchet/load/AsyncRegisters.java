package ratchet.load;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;

/** By HBase's asynchronous table. */
final class AsyncRegisters implements Registers {
  private final AsyncTable<?> table;
  private final Requests requests;
  private final long patienceMs;

  AsyncRegisters(AsyncConnection connection, TableName name, Requests requests, long patienceMs) {
    this.table = connection.getTable(name);
    this.requests = requests;
    this.patienceMs = patienceMs;
  }

  private <T> T await(CompletableFuture<T> future) throws Exception {
    return future.get(patienceMs, TimeUnit.MILLISECONDS);
  }

  @Override
  public byte[] get(byte[] row, byte[] qualifier) throws Exception {
    return await(table.get(requests.get(row, qualifier))).getValue(requests.family(), qualifier);
  }

  @Override
  public void put(byte[] row, byte[] qualifier, byte[] value) throws Exception {
    await(table.put(requests.put(row, qualifier, value)));
  }

  @Override
  public void delete(byte[] row, byte[] qualifier) throws Exception {
    await(table.delete(requests.delete(row, qualifier)));
  }

  @Override
  public byte[] append(byte[] row, byte[] qualifier, byte[] suffix) throws Exception {
    return await(table.append(requests.append(row, qualifier, suffix))).getValue(requests.family(), qualifier);
  }

  @Override
  public byte[] increment(byte[] row, byte[] qualifier, long amount) throws Exception {
    return await(table.increment(requests.increment(row, qualifier, amount))).getValue(requests.family(), qualifier);
  }

  @Override
  public boolean checkAndMutate(byte[] row, byte[] qualifier, byte[] expected, byte[] value) throws Exception {
    return await(table.checkAndMutate(requests.checkAndMutate(row, qualifier, expected, value))).isSuccess();
  }
}
