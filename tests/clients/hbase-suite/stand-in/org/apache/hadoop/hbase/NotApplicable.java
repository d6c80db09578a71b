package org.apache.hadoop.hbase;

/** Thrown where a test reaches for an object inside a server, or for HDFS: such a test is not about the client. */
public class NotApplicable extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The runner finds tests that ended with this exception by this word. */
  public static final String WORD = "NOT-APPLICABLE";

  public NotApplicable(String what) {
    super(WORD + ": " + what);
  }
}
