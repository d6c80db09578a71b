package org.apache.hadoop.hbase.security.access;

import java.util.concurrent.CountDownLatch;

/**
 * In the place of the master's coprocessor that opens a latch when a table was made or dropped. HBase's client waits for
 * the procedure before the test waits for the latch, so each latch may be opened as soon as hbase:acl follows.
 */
public final class SyncObserverStandIn {
  /** Ratchet's master brings hbase:acl up to date each second. */
  private static final long ACL_TABLE_FOLLOWS_MS = 1_500;

  private static SecureTestUtil.MasterSyncObserver observer;

  private SyncObserverStandIn() {}

  public static synchronized SecureTestUtil.MasterSyncObserver get() {
    if (observer == null) {
      SecureTestUtil.MasterSyncObserver made = new SecureTestUtil.MasterSyncObserver();
      Thread opener = new Thread(() -> openLatches(made), "latches");
      opener.setDaemon(true);
      opener.start();
      observer = made;
    }
    return observer;
  }

  public static void awaitAclTable() {
    try {
      Thread.sleep(ACL_TABLE_FOLLOWS_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void openLatches(SecureTestUtil.MasterSyncObserver of) {
    while (!Thread.currentThread().isInterrupted()) {
      CountDownLatch made = of.tableCreationLatch;
      CountDownLatch dropped = of.tableDeletionLatch;
      awaitAclTable();
      open(made);
      open(dropped);
    }
  }

  /** A test without a procedure keeps no latch closed. */
  private static void open(CountDownLatch latch) {
    if (latch != null) {
      latch.countDown();
    }
  }
}
