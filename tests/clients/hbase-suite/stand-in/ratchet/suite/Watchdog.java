package ratchet.suite;

/** Ends a test that takes longer than the limit: interrupts it, then stops its thread, then ends the JVM. */
final class Watchdog {
  private static final long CHECK_MS = 500;
  private static final long STOP_AFTER_MS = 5_000;
  private static final long END_AFTER_MS = 20_000;

  private final long limitMs;
  private final Report report;
  private String test;
  private Thread thread;
  private long since;
  private int warnings;

  Watchdog(long limitMs, Report report) {
    this.limitMs = limitMs;
    this.report = report;
    Thread watching = new Thread(this::watch);
    watching.setDaemon(true);
    watching.start();
  }

  synchronized void begin(String name) {
    test = name;
    thread = Thread.currentThread();
    since = System.currentTimeMillis();
    warnings = 0;
  }

  synchronized void end() {
    test = null;
  }

  synchronized long elapsedMs() {
    return System.currentTimeMillis() - since;
  }

  synchronized boolean overran() {
    return warnings > 0;
  }

  private void watch() {
    while (true) {
      try {
        Thread.sleep(CHECK_MS);
      } catch (InterruptedException e) {
        return;
      }
      look();
    }
  }

  @SuppressWarnings({"deprecation", "removal"})
  private synchronized void look() {
    if (test == null) {
      return;
    }
    long over = elapsedMs() - limitMs;
    if (over > 0 && warnings == 0) {
      warnings = 1;
      System.err.println("SUITE-LIMIT: " + test);
      for (StackTraceElement each : thread.getStackTrace()) {
        System.err.println("  at " + each);
      }
      thread.interrupt();
    } else if (over > STOP_AFTER_MS && warnings == 1) {
      warnings = 2;
      System.err.println("SUITE-STOP: " + test);
      thread.stop();
    } else if (over > END_AFTER_MS && warnings == 2) {
      report.line("HUNG", test, elapsedMs(), "the JVM was ended");
      Runtime.getRuntime().halt(9);
    }
  }
}
