package ratchet.load;

import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;

/** Requests of one column. */
final class Requests {
  private final byte[] family;

  Requests(byte[] family) {
    this.family = family;
  }

  byte[] family() {
    return family;
  }

  Get get(byte[] row, byte[] qualifier) {
    return new Get(row).addColumn(family, qualifier);
  }

  Put put(byte[] row, byte[] qualifier, byte[] value) {
    return new Put(row).addColumn(family, qualifier, value);
  }

  /** All versions. */
  Delete delete(byte[] row, byte[] qualifier) {
    return new Delete(row).addColumns(family, qualifier);
  }

  Append append(byte[] row, byte[] qualifier, byte[] suffix) {
    return new Append(row).addColumn(family, qualifier, suffix);
  }

  Increment increment(byte[] row, byte[] qualifier, long amount) {
    return new Increment(row).addColumn(family, qualifier, amount);
  }

  CheckAndMutate checkAndMutate(byte[] row, byte[] qualifier, byte[] expected, byte[] value) {
    CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(row);
    builder = expected == null ? builder.ifNotExists(family, qualifier) : builder.ifEquals(family, qualifier, expected);
    return value == null ? builder.build(delete(row, qualifier)) : builder.build(put(row, qualifier, value));
  }
}
