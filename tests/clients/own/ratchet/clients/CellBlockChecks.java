package ratchet.clients;

import static ratchet.clients.Checks.equal;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.bytes;
import static ratchet.clients.Session.put;
import static ratchet.clients.Session.rows;
import static ratchet.clients.Session.text;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/** Cell blocks in other forms than the usual one: compressed, and with tags. */
final class CellBlockChecks {
  private static final String CODECS = "org.apache.hadoop.io.compress.";

  private final Checks checks;
  private final Session session;

  CellBlockChecks(Checks checks, Session session) {
    this.checks = checks;
    this.session = session;
  }

  void run() throws Exception {
    session.admin.createTable(session.table("blocks"), new byte[][] {bytes("m")});
    for (String codec : List.of("GzipCodec", "DefaultCodec")) {
      check("cell blocks compressed by " + codec, () -> compressed(CODECS + codec));
    }
    check("tags", this::tags);
  }

  private void check(String name, Checks.Body body) {
    checks.check(session.registry + ": " + name, body);
  }

  private Connection connect(String setting, String value) throws Exception {
    Configuration conf = new Configuration(session.connection.getConfiguration());
    conf.set(setting, value);
    return ConnectionFactory.createConnection(conf);
  }

  private void compressed(String codec) throws Exception {
    try (Connection connection = connect("hbase.client.rpc.compressor", codec);
        Table table = connection.getTable(session.name("blocks"))) {
      String value = "v".repeat(100_000) + codec;
      List<Put> puts = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        puts.add(put("row" + i, "q", value + i));
      }
      table.put(puts);
      equal(value + "7", text(table.get(new Get(bytes("row7"))).value()));
      equal(20, rows(table, new Scan()).split(",").length);
    }
    // The other connections are not compressed.
    try (Table table = session.connection.getTable(session.name("blocks"))) {
      equal(true, text(table.get(new Get(bytes("row7"))).value()).endsWith(codec + "7"));
    }
  }

  private void tags() throws Exception {
    try (Connection connection =
            connect("hbase.client.rpc.codec", "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
        Table tagged = connection.getTable(session.name("blocks"));
        Table plain = session.connection.getTable(session.name("blocks"))) {
      for (long ttl = 3_600_000; ttl < 3_600_003; ttl++) {
        plain.increment(new Increment(bytes("tags")).addColumn(F, bytes("count"), 1).setTTL(ttl));
        Cell cell = tagged.get(new Get(bytes("tags"))).rawCells()[0];
        List<Tag> tags = PrivateCellUtil.getTags(cell);
        equal(1, tags.size());
        equal(8, (int) tags.get(0).getType());
        equal(ttl, Tag.getValueAsLong(tags.get(0)));
      }
      equal(0, PrivateCellUtil.getTags(plain.get(new Get(bytes("tags"))).rawCells()[0]).size());
    }
  }
}
