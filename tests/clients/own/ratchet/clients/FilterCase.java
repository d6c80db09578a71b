package ratchet.clients;

import static ratchet.clients.ScanChecks.range;
import static ratchet.clients.Session.F;
import static ratchet.clients.Session.G;
import static ratchet.clients.Session.bytes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
import org.apache.hadoop.hbase.filter.ColumnPaginationFilter;
import org.apache.hadoop.hbase.filter.ColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.ColumnRangeFilter;
import org.apache.hadoop.hbase.filter.ColumnValueFilter;
import org.apache.hadoop.hbase.filter.DependentColumnFilter;
import org.apache.hadoop.hbase.filter.FamilyFilter;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.FuzzyRowFilter;
import org.apache.hadoop.hbase.filter.InclusiveStopFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;
import org.apache.hadoop.hbase.filter.MultiRowRangeFilter;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.filter.QualifierFilter;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.filter.SkipFilter;
import org.apache.hadoop.hbase.filter.SubstringComparator;
import org.apache.hadoop.hbase.filter.TimestampsFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.util.Pair;

/** A filter, and what a scan with it gives over the rows of ScanChecks. */
final class FilterCase {
  final String name;
  final Filter filter;
  final String expected;
  /** The scan also meets the row "wide". */
  final boolean wide;

  private FilterCase(String name, Filter filter, String expected, boolean wide) {
    this.name = name;
    this.filter = filter;
    this.expected = expected;
    this.wide = wide;
  }

  private static ByteArrayComparable is(String value) {
    return new BinaryComparator(bytes(value));
  }

  private static RowFilter row(CompareOperator operator, String value) {
    return new RowFilter(operator, is(value));
  }

  static List<FilterCase> all() {
    List<FilterCase> cases = new ArrayList<>();
    rows(cases);
    columns(cases);
    combined(cases);
    return cases;
  }

  private static void add(List<FilterCase> cases, Filter filter, String expected) {
    cases.add(new FilterCase(cases.size() + " " + filter, filter, expected, false));
  }

  private static void rows(List<FilterCase> cases) {
    add(cases, new PrefixFilter(bytes("row0")), range(0, 9, 2));
    add(cases, row(CompareOperator.EQUAL, "row01"), range(1, 1, 2));
    add(cases, new RowFilter(CompareOperator.EQUAL, new RegexStringComparator("^row1[0-4]$")), range(10, 14, 2));
    add(cases, new PageFilter(2), range(0, 1, 2));
    add(cases, new InclusiveStopFilter(bytes("row03")), range(0, 3, 2));
    byte[] mask = {0, 0, 0, 1, 0};
    add(cases, new FuzzyRowFilter(Arrays.asList(new Pair<>(bytes("row?5"), mask))), "row05:2,row15:2");
    MultiRowRangeFilter.RowRange range = new MultiRowRangeFilter.RowRange(bytes("row01"), true, bytes("row03"), false);
    add(cases, new MultiRowRangeFilter(Arrays.asList(range)), range(1, 2, 2));
    add(cases, new KeyOnlyFilter(), range(0, 19, 2));
    add(cases, new FirstKeyOnlyFilter(), range(0, 19, 1));
  }

  private static void columns(List<FilterCase> cases) {
    add(cases, new FamilyFilter(CompareOperator.EQUAL, new BinaryComparator(G)), range(0, 19, 1));
    add(cases, new QualifierFilter(CompareOperator.EQUAL, is("q")), range(0, 19, 1));
    add(cases, new ValueFilter(CompareOperator.EQUAL, is("v1")), range(1, 1, 1));
    add(cases, new ValueFilter(CompareOperator.EQUAL, new SubstringComparator("V19")), range(19, 19, 1));
    add(cases, new SingleColumnValueFilter(F, bytes("q"), CompareOperator.EQUAL, bytes("v1")), range(1, 1, 2));
    add(cases, new SingleColumnValueExcludeFilter(F, bytes("q"), CompareOperator.EQUAL, bytes("v1")), range(1, 1, 1));
    add(cases, new ColumnValueFilter(F, bytes("q"), CompareOperator.EQUAL, bytes("v1")), range(1, 1, 1));
    add(cases, new ColumnPrefixFilter(bytes("x")), range(0, 19, 1));
    add(cases, new MultipleColumnPrefixFilter(new byte[][] {bytes("q"), bytes("x")}), range(0, 19, 2));
    add(cases, new ColumnRangeFilter(bytes("a"), true, bytes("r"), false), range(0, 19, 1));
    add(cases, new ColumnPaginationFilter(1, 1), range(0, 19, 1));
    add(cases, new DependentColumnFilter(F, bytes("q")), range(0, 19, 2));
    add(cases, new DependentColumnFilter(F, bytes("q"), true), range(0, 19, 1));
    Filter stamps = new TimestampsFilter(Arrays.asList(20L, 40L));
    cases.add(new FilterCase(cases.size() + " " + stamps, stamps, "wide:2", true));
  }

  private static void combined(List<FilterCase> cases) {
    Filter zero = new PrefixFilter(bytes("row0"));
    add(cases, new SkipFilter(new ValueFilter(CompareOperator.NOT_EQUAL, is("v0"))), range(1, 19, 2));
    add(cases, new WhileMatchFilter(row(CompareOperator.LESS, "row03")), range(0, 2, 2));
    add(cases, new FilterList(zero, new PageFilter(3)), range(0, 2, 2));
    Filter one = row(CompareOperator.EQUAL, "row01");
    Filter seven = row(CompareOperator.EQUAL, "row07");
    add(cases, new FilterList(FilterList.Operator.MUST_PASS_ONE, one, seven), "row01:2,row07:2");
  }
}
