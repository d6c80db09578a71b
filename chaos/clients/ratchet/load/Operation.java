package ratchet.load;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.util.Bytes;

/** One request of the driver (chaos/workloads/foreign_line.h), and the line that answers it. */
final class Operation {
  private final String id;
  private final String client;
  private final String row;
  private final String qualifier;
  private final String kind;
  private final String value;
  private final String expected;

  Operation(String request) {
    String[] fields = request.split("\t", -1);
    if (fields.length != 7) {
      throw new IllegalArgumentException("not a request: " + request);
    }
    id = fields[0];
    client = fields[1];
    row = fields[2];
    qualifier = fields[3];
    kind = fields[4];
    value = fields[5];
    expected = fields[6];
  }

  int client() {
    return Integer.parseInt(client);
  }

  /** Executes the operation. An exception does not prove that the request was not executed: its outcome is unknown. */
  String execute(Registers registers, Pauses pauses) {
    StringBuilder answer = new StringBuilder(200);
    String outcome = "ok";
    long invoked = System.nanoTime();
    try {
      answer(registers, answer);
    } catch (Exception e) {
      answer.setLength(0);
      outcome = "unknown";
      System.err.println(kind + " of " + row + "/" + qualifier + ": " + e);
    }
    long returned = System.nanoTime();
    StringBuilder line = new StringBuilder(300);
    line.append("{\"id\":").append(id).append(",\"client\":").append(client);
    text(line, "key", Bytes.toBytes(row + "/" + qualifier));
    text(line, "op", Bytes.toBytes(kind));
    if (!kind.equals("get") && !kind.equals("delete") && !kind.equals("check-and-delete")) {
      text(line, "value", Bytes.toBytes(value));
    }
    if (kind.startsWith("check-")) {
      text(line, "expected", Bytes.toBytes(expected));
    }
    line.append(",\"invoke\":").append(invoked).append(",\"return\":").append(returned);
    line.append(",\"attempts\":").append(pauses.mostAttempts(returned - invoked));
    text(line, "outcome", Bytes.toBytes(outcome));
    return line.append(answer).append('}').toString();
  }

  private void answer(Registers registers, StringBuilder answer) throws Exception {
    byte[] r = Bytes.toBytes(row);
    byte[] q = Bytes.toBytes(qualifier);
    switch (kind) {
      case "get" -> observed(answer, registers.get(r, q));
      case "put" -> registers.put(r, q, stored(value));
      case "delete" -> registers.delete(r, q);
      case "append" -> observed(answer, registers.append(r, q, stored(value)));
      case "increment" -> observed(answer, registers.increment(r, q, Long.parseLong(value)));
      case "check-and-put" -> applied(answer, registers.checkAndMutate(r, q, condition(), stored(value)));
      case "check-and-delete" -> applied(answer, registers.checkAndMutate(r, q, condition(), null));
      default -> throw new IllegalArgumentException("no operation " + kind);
    }
  }

  private byte[] condition() {
    return expected.isEmpty() ? null : stored(expected);
  }

  private byte[] stored(String text) {
    return qualifier.equals("n") ? Bytes.toBytes(Long.parseLong(text)) : Bytes.toBytes(text);
  }

  private static void applied(StringBuilder answer, boolean applied) {
    answer.append(",\"applied\":").append(applied);
  }

  private void observed(StringBuilder answer, byte[] bytes) {
    if (bytes == null) {
      answer.append(",\"observed\":null");
    } else if (!qualifier.equals("n")) {
      text(answer, "observed", bytes);
    } else if (bytes.length == Long.BYTES) {
      text(answer, "observed", Bytes.toBytes(Long.toString(Bytes.toLong(bytes))));
    } else {
      text(answer, "observed", Bytes.toBytes("not a number: " + Bytes.toStringBinary(bytes)));
    }
  }

  /** Adds a field. Byte nn is code point U+00nn. */
  private static void text(StringBuilder line, String name, byte[] bytes) {
    line.append(",\"").append(name).append("\":\"");
    for (char c : new String(bytes, StandardCharsets.ISO_8859_1).toCharArray()) {
      if (c == '"' || c == '\\') {
        line.append('\\').append(c);
      } else if (c < 0x20 || c >= 0x7f) {
        line.append(String.format("\\u%04x", (int) c));
      } else {
        line.append(c);
      }
    }
    line.append('"');
  }
}
