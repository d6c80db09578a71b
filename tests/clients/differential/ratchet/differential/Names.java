package ratchet.differential;

import java.util.Random;
import org.apache.hadoop.hbase.util.Bytes;

/** The few rows, columns, values and times of a round, so that they meet. */
final class Names {
  private static final String[] ROWS = {"a", "aa", "ab", "b", "l", "m", "ma", "mb", "n", "z"};
  private static final String[] FAMILIES = {"f", "g"};
  // Not the empty one: in it HBase takes the next version for the next column when a filter asks for that.
  private static final String[] QUALIFIERS = {"a", "ab", "b", "c"};
  private static final int TIMES = 24;

  private final Random random;
  private final long base;
  private long later;

  Names(Random random, long base) {
    this.random = random;
    this.base = base;
  }

  byte[] row() {
    return Bytes.toBytes(ROWS[random.nextInt(ROWS.length)]);
  }

  byte[] family() {
    return Bytes.toBytes(FAMILIES[random.nextInt(FAMILIES.length)]);
  }

  byte[] qualifier() {
    return Bytes.toBytes(QUALIFIERS[random.nextInt(QUALIFIERS.length)]);
  }

  byte[] value() {
    return Bytes.toBytes("v" + random.nextInt(8));
  }

  /** A timestamp of the client's, a minute ago. */
  long time() {
    return base + later + random.nextInt(TIMES);
  }

  /** From now on all times are above those before. */
  void passTime() {
    later += TIMES;
  }
}
