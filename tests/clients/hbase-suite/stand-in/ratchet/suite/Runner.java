package ratchet.suite;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.apache.hadoop.hbase.NotApplicable;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs one class of tests: Runner CLASS NAME_OF_THE_REPORT. System properties: suite.test.limit.ms (60000), suite.only
 * (names of tests, with commas; each with a minus: all but these).
 */
public final class Runner {
  private Runner() {}

  public static void main(String[] arguments) throws Exception {
    Class<?> tests = Class.forName(arguments[0]);
    Report report = new Report(tests.getName(), arguments[1]);
    Watchdog watchdog = new Watchdog(Long.getLong("suite.test.limit.ms", 60_000), report);
    JUnitCore core = new JUnitCore();
    core.addListener(new Listener(report, watchdog));
    Result result = core.run(Request.aClass(tests).filterWith(chosen(System.getProperty("suite.only", ""))));
    report.line("END", String.valueOf(result.getRunCount()), result.getRunTime(), "");
    // Threads of connections would hold the JVM.
    Runtime.getRuntime().halt(0);
  }

  private static Filter chosen(String only) {
    List<String> names = List.of(only.split(","));
    boolean without = only.startsWith("-");
    return new Filter() {
      @Override
      public boolean shouldRun(Description description) {
        String method = description.getMethodName();
        if (only.isEmpty() || method == null) {
          return true;
        }
        return names.contains((without ? "-" : "") + method.replaceAll("\\[.*", "")) != without;
      }

      @Override
      public String describe() {
        return "the tests of suite.only";
      }
    };
  }

  private static final class Listener extends RunListener {
    private final Report report;
    private final Watchdog watchdog;
    private boolean told;

    Listener(Report report, Watchdog watchdog) {
      this.report = report;
      this.watchdog = watchdog;
    }

    private static String nameOf(Description description) {
      return description.getMethodName() == null ? "<class>" : description.getMethodName();
    }

    @Override
    public void testStarted(Description description) {
      told = false;
      watchdog.begin(description.getMethodName());
      System.err.println("SUITE-TEST: " + description.getDisplayName());
    }

    @Override
    public void testFinished(Description description) {
      watchdog.end();
      if (!told) {
        report.line("PASS", nameOf(description), watchdog.elapsedMs(), "");
      }
    }

    @Override
    public void testFailure(Failure failure) {
      StringWriter trace = new StringWriter();
      failure.getException().printStackTrace(new PrintWriter(trace));
      String verdict = watchdog.overran() ? "TIMEOUT" : "FAIL";
      if (trace.toString().contains(NotApplicable.WORD)) {
        verdict = "NA";
      }
      // A test may fail again while it is taken down.
      verdict = told ? "ALSO-" + verdict : verdict;
      told = true;
      report.failure(verdict, nameOf(failure.getDescription()), watchdog.elapsedMs(), failure.getException());
    }

    @Override
    public void testAssumptionFailure(Failure failure) {
      told = true;
      report.failure("NA", nameOf(failure.getDescription()), 0, failure.getException());
    }

    @Override
    public void testIgnored(Description description) {
      report.line("IGNORED", nameOf(description), 0, "");
    }
  }
}
