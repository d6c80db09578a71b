package ratchet.load;

/** Single columns of rows, as one of HBase's two interfaces for tables offers them. */
interface Registers {
  /** Returns the stored bytes, or null. */
  byte[] get(byte[] row, byte[] qualifier) throws Exception;

  void put(byte[] row, byte[] qualifier, byte[] value) throws Exception;

  void delete(byte[] row, byte[] qualifier) throws Exception;

  /** Returns the new value. */
  byte[] append(byte[] row, byte[] qualifier, byte[] suffix) throws Exception;

  /** Returns the new value. */
  byte[] increment(byte[] row, byte[] qualifier, long amount) throws Exception;

  /** Puts the value, or deletes the column if it is null. `expected` null: the column must have no value. */
  boolean checkAndMutate(byte[] row, byte[] qualifier, byte[] expected, byte[] value) throws Exception;
}
