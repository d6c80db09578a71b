package ratchet.suite;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** Two files: NAME.tsv, a line for each test (verdict, class, test, milliseconds, text), and NAME.traces. */
final class Report {
  private static final int MOST_OF_A_MESSAGE = 700;
  private static final int MOST_OF_A_LINE = 3000;

  private final String className;
  private final PrintWriter lines;
  private final PrintWriter traces;

  Report(String className, String name) throws IOException {
    this.className = className;
    lines = new PrintWriter(new FileWriter(name + ".tsv"));
    traces = new PrintWriter(new FileWriter(name + ".traces"));
  }

  synchronized void line(String verdict, String test, long milliseconds, String text) {
    lines.println(String.join("\t", verdict, className, test, String.valueOf(milliseconds), text));
    lines.flush();
  }

  synchronized void failure(String verdict, String test, long milliseconds, Throwable failure) {
    line(verdict, test, milliseconds, textOf(failure));
    traces.println("=== " + verdict + " " + test);
    failure.printStackTrace(traces);
    traces.flush();
  }

  /** The exception and its causes in one line, and where in the test it was thrown. */
  private static String textOf(Throwable failure) {
    StringBuilder text = new StringBuilder();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Throwable each = failure; each != null && seen.add(each); each = each.getCause()) {
      if (text.length() > MOST_OF_A_LINE) {
        break;
      }
      String message = String.valueOf(each.getMessage()).replaceAll("(?m)^\\s*at .*$", "").replaceAll("\\s+", " ");
      boolean cut = message.length() > MOST_OF_A_MESSAGE;
      text.append(text.length() > 0 ? " <- " : "").append(each.getClass().getSimpleName()).append(": ");
      text.append(cut ? message.substring(0, MOST_OF_A_MESSAGE) + "..." : message.trim());
    }
    for (StackTraceElement each : failure.getStackTrace()) {
      String name = each.getClassName();
      if (name.contains(".Test") || name.contains("Base") || name.contains("FromClient")) {
        return text + " @ " + each.getFileName() + ":" + each.getLineNumber();
      }
    }
    return text.toString();
  }
}
