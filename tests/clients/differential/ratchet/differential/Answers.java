package ratchet.differential;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RetriesExhaustedException;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.util.Bytes;

/** Answers as text that is the same for two clusters that answer the same: times are relative to the round's. */
final class Answers {
  private static final int TTL_TAG = 8;
  /** A timestamp as near as this to the present was given by a server. */
  private static final long NEAR_MS = 30_000;

  private final long base;

  Answers(long base) {
    this.base = base;
  }

  private String time(long timestamp) {
    if (timestamp > base + NEAR_MS) {
      return "NOW";
    }
    return Long.toString(timestamp - base);
  }

  private String tag(Tag tag) {
    byte[] value = Tag.cloneValue(tag);
    return tag.getType() + "=" + (tag.getType() == TTL_TAG ? Long.toString(Bytes.toLong(value)) : Bytes.toStringBinary(value));
  }

  String cell(Cell cell) {
    StringBuilder text = new StringBuilder();
    text.append(Bytes.toStringBinary(CellUtil.cloneRow(cell))).append('/');
    text.append(Bytes.toStringBinary(CellUtil.cloneFamily(cell))).append(':');
    text.append(Bytes.toStringBinary(CellUtil.cloneQualifier(cell))).append('@').append(time(cell.getTimestamp()));
    if (cell.getType() != Cell.Type.Put) {
      text.append(' ').append(cell.getType());
    }
    text.append('=').append(Bytes.toStringBinary(CellUtil.cloneValue(cell)));
    Iterator<Tag> tags = PrivateCellUtil.tagsIterator(cell);
    while (tags.hasNext()) {
      text.append(" tag ").append(tag(tags.next()));
    }
    return text.toString();
  }

  String result(Result result) {
    if (result == null) {
      return "null";
    }
    if (result.getExists() != null) {
      return "exists=" + result.getExists();
    }
    List<String> cells = new ArrayList<>();
    if (!result.isEmpty()) {
      for (Cell cell : result.rawCells()) {
        cells.add(cell(cell));
      }
    }
    return "[" + String.join(", ", cells) + "]";
  }

  /** Of a change: HBase leaves a time to live out of the result where there was no cell before. */
  String untagged(Result result) {
    return result(result).replaceAll(" tag 8=[0-9-]+", "");
  }

  /** The class only: each system has its own words. */
  static String error(Throwable thrown) {
    Throwable error = thrown;
    if (error instanceof RetriesExhaustedWithDetailsException) {
      error = ((RetriesExhaustedWithDetailsException) error).getCause(0);
    }
    while (error.getCause() != null && (error instanceof RetriesExhaustedException || error instanceof ExecutionException)) {
      error = error.getCause();
    }
    return "error " + error.getClass().getSimpleName();
  }
}
