package ratchet.differential;

import org.apache.hadoop.hbase.client.Table;

/** One request and its answer as text. */
final class Step {
  interface Work {
    String run(Table table) throws Exception;
  }

  final String text;
  private final Work work;

  Step(String text, Work work) {
    this.text = text;
    this.work = work;
  }

  String run(Table table) throws Exception {
    return work.run(table);
  }
}
