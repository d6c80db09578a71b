package ratchet.clients;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs checks one after the other, each with a deadline; prints a line for each and counts them. */
final class Checks {
  /** A check: passed when it returns. */
  interface Body {
    void run() throws Exception;
  }

  private static final long LIMIT_SECONDS = 90;

  private final ExecutorService pool = Executors.newCachedThreadPool(task -> {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    return thread;
  });
  private int passed;
  private int failed;

  void check(String name, Body body) {
    long from = System.nanoTime();
    Future<?> running = pool.submit(() -> {
      body.run();
      return null;
    });
    Throwable failure = null;
    try {
      running.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      failure = e.getCause();
    } catch (TimeoutException e) {
      running.cancel(true);
      failure = new AssertionError("not finished after " + LIMIT_SECONDS + " s");
    } catch (InterruptedException e) {
      failure = e;
    }
    long milliseconds = (System.nanoTime() - from) / 1_000_000;
    if (failure == null) {
      passed++;
      System.out.printf("PASS %s (%d ms)%n", name, milliseconds);
    } else {
      failed++;
      System.out.printf("FAIL %s (%d ms): %s%n", name, milliseconds, textOf(failure));
    }
  }

  /** Prints the counts; true when every check passed, and there was one. */
  boolean summary() {
    System.out.printf("%d passed, %d failed%n", passed, failed);
    return failed == 0 && passed > 0;
  }

  static void equal(Object expected, Object got) {
    if (!Objects.equals(String.valueOf(expected), String.valueOf(got))) {
      throw new AssertionError("expected " + expected + ", got " + got);
    }
  }

  static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** The call has to fail, and the name of an exception of its chain of causes is the one given. */
  static void refused(String exception, Body body) throws Exception {
    try {
      body.run();
    } catch (Exception e) {
      if (textOf(e).contains(exception)) {
        return;
      }
      throw e;
    }
    throw new AssertionError("expected a " + exception + ", and the call succeeded");
  }

  /** Calls until the condition holds; the deadline of the check is the limit. */
  static void await(String what, java.util.concurrent.Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS - 10);
    while (!condition.call()) {
      require(System.nanoTime() < end, "in vain: " + what);
      Thread.sleep(50);
    }
  }

  /** The exception and its causes in one line, without stacks. */
  static String textOf(Throwable failure) {
    StringBuilder text = new StringBuilder();
    int depth = 0;
    for (Throwable each = failure; each != null && depth < 8; each = each.getCause(), depth++) {
      String message = String.valueOf(each.getMessage()).replaceAll("(?m)^\\s*at .*$", "").replaceAll("\\s+", " ");
      text.append(depth > 0 ? " <- " : "").append(each.getClass().getSimpleName()).append(": ");
      text.append(message, 0, Math.min(400, message.length()));
    }
    return text.toString();
  }
}
