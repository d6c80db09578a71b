// Filters and comparators as clients send them, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/model/proto/filter.pb.h"
#include "regionserver/filter/filter_decoder.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

inline hbase::pb::Filter NamedFilter(const std::string& name, const google::protobuf::MessageLite& message) {
  hbase::pb::Filter filter;
  filter.set_name("org.apache.hadoop.hbase.filter." + name);
  filter.set_serialized_filter(message.SerializePartialAsString());
  return filter;
}

inline hbase::pb::Comparator NamedComparator(const std::string& name, const google::protobuf::MessageLite& message) {
  hbase::pb::Comparator comparator;
  comparator.set_name("org.apache.hadoop.hbase.filter." + name);
  comparator.set_serialized_comparator(message.SerializePartialAsString());
  return comparator;
}

inline hbase::pb::Comparator BinaryOf(const std::string& value) {
  hbase::pb::BinaryComparator message;
  message.mutable_comparable()->set_value(value);
  return NamedComparator("BinaryComparator", message);
}

// RowFilter, FamilyFilter, QualifierFilter, ValueFilter.
template <class Message>
hbase::pb::Filter CompareFilterOf(const std::string& name, hbase::pb::CompareType op,
                                  const hbase::pb::Comparator& comparator) {
  Message message;
  message.mutable_compare_filter()->set_compare_op(op);
  *message.mutable_compare_filter()->mutable_comparator() = comparator;
  return NamedFilter(name, message);
}

inline hbase::pb::Filter PrefixOf(const std::string& prefix) {
  hbase::pb::PrefixFilter message;
  message.set_prefix(prefix);
  return NamedFilter("PrefixFilter", message);
}

inline hbase::pb::Filter PageOf(std::int64_t rows) {
  hbase::pb::PageFilter message;
  message.set_page_size(rows);
  return NamedFilter("PageFilter", message);
}

inline hbase::pb::Filter ValueIs(hbase::pb::CompareType op, const std::string& value) {
  return CompareFilterOf<hbase::pb::ValueFilter>("ValueFilter", op, BinaryOf(value));
}

inline hbase::pb::Filter ListOf(hbase::pb::FilterList::Operator op, const std::vector<hbase::pb::Filter>& members) {
  hbase::pb::FilterList message;
  message.set_operator_(op);
  for (const auto& member : members) *message.add_filters() = member;
  return NamedFilter("FilterList", message);
}
inline hbase::pb::Filter AllOf(const std::vector<hbase::pb::Filter>& members) {
  return ListOf(hbase::pb::FilterList::MUST_PASS_ALL, members);
}
inline hbase::pb::Filter AnyOf(const std::vector<hbase::pb::Filter>& members) {
  return ListOf(hbase::pb::FilterList::MUST_PASS_ONE, members);
}

template <class Message>
hbase::pb::Filter Around(const std::string& name, const hbase::pb::Filter& inner) {
  Message message;
  *message.mutable_filter() = inner;
  return NamedFilter(name, message);
}

inline hbase::pb::SingleColumnValueFilter SingleColumnOf(const std::string& qualifier, pb::CompareType op,
                                                         const std::string& value) {
  hbase::pb::SingleColumnValueFilter message;
  message.set_column_family("f");
  message.set_column_qualifier(qualifier);
  message.set_compare_op(op);
  *message.mutable_comparator() = BinaryOf(value);
  return message;
}

inline pb::Filter RowOp(pb::CompareType op, const std::string& row) {
  return CompareFilterOf<pb::RowFilter>("RowFilter", op, BinaryOf(row));
}
inline pb::Filter QualifierOp(pb::CompareType op, const std::string& qualifier) {
  return CompareFilterOf<pb::QualifierFilter>("QualifierFilter", op, BinaryOf(qualifier));
}
inline pb::Filter FamilyOp(pb::CompareType op, const std::string& family) {
  return CompareFilterOf<pb::FamilyFilter>("FamilyFilter", op, BinaryOf(family));
}
inline pb::Filter SingleColumnFilter(const pb::SingleColumnValueFilter& message) {
  return NamedFilter("SingleColumnValueFilter", message);
}
inline pb::Filter ExcludeFilter(const pb::SingleColumnValueFilter& inner) {
  pb::SingleColumnValueExcludeFilter message;
  *message.mutable_single_column_value_filter() = inner;
  return NamedFilter("SingleColumnValueExcludeFilter", message);
}
inline pb::SingleColumnValueFilter OrMissing(pb::SingleColumnValueFilter message) {
  message.set_filter_if_missing(true);
  return message;
}
inline pb::Filter ColumnValueOf(const std::string& qualifier, pb::CompareType op, const std::string& value) {
  pb::ColumnValueFilter message;
  message.set_family("f");
  message.set_qualifier(qualifier);
  message.set_compare_op(op);
  *message.mutable_comparator() = BinaryOf(value);
  return NamedFilter("ColumnValueFilter", message);
}
inline pb::Filter ColumnPrefixOf(const std::string& prefix) {
  pb::ColumnPrefixFilter message;
  message.set_prefix(prefix);
  return NamedFilter("ColumnPrefixFilter", message);
}
inline pb::Filter PrefixesOf(const std::vector<std::string>& prefixes) {
  pb::MultipleColumnPrefixFilter message;
  for (const auto& prefix : prefixes) message.add_sorted_prefixes(prefix);
  return NamedFilter("MultipleColumnPrefixFilter", message);
}
inline pb::Filter ColumnRangeOf(const std::string& min, bool with_min, const std::string& max, bool with_max) {
  pb::ColumnRangeFilter message;
  message.set_min_column(min);
  message.set_min_column_inclusive(with_min);
  message.set_max_column(max);
  message.set_max_column_inclusive(with_max);
  return NamedFilter("ColumnRangeFilter", message);
}
inline pb::Filter ColumnCountOf(int limit) {
  pb::ColumnCountGetFilter message;
  message.set_limit(limit);
  return NamedFilter("ColumnCountGetFilter", message);
}
inline pb::Filter ColumnPageOf(int limit, int offset) {
  pb::ColumnPaginationFilter message;
  message.set_limit(limit);
  message.set_offset(offset);
  return NamedFilter("ColumnPaginationFilter", message);
}
inline pb::Filter ColumnPageFrom(int limit, const std::string& column) {
  pb::ColumnPaginationFilter message;
  message.set_limit(limit);
  message.set_column_offset(column);
  return NamedFilter("ColumnPaginationFilter", message);
}
inline pb::Filter InclusiveStopOf(const std::string& row) {
  pb::InclusiveStopFilter message;
  message.set_stop_row_key(row);
  return NamedFilter("InclusiveStopFilter", message);
}
inline pb::Filter TimestampsOf(const std::vector<std::int64_t>& timestamps, bool can_hint) {
  pb::TimestampsFilter message;
  for (const std::int64_t timestamp : timestamps) message.add_timestamps(timestamp);
  message.set_can_hint(can_hint);
  return NamedFilter("TimestampsFilter", message);
}
inline pb::Filter RandomOf(float chance) {
  pb::RandomRowFilter message;
  message.set_chance(chance);
  return NamedFilter("RandomRowFilter", message);
}
inline pb::Filter FuzzyOf(const std::vector<std::pair<std::string, std::string>>& keys) {
  pb::FuzzyRowFilter message;
  message.set_is_mask_v2(true);
  for (const auto& [key, mask] : keys) {
    message.add_fuzzy_keys_data()->set_first(key);
    message.mutable_fuzzy_keys_data()->rbegin()->set_second(mask);
  }
  return NamedFilter("FuzzyRowFilter", message);
}
struct TestedRange {
  std::string start;
  bool with_start;
  std::string stop;
  bool with_stop;
};
inline pb::Filter RangesOf(const std::vector<TestedRange>& ranges) {
  pb::MultiRowRangeFilter message;
  for (const TestedRange& range : ranges) {
    auto& out = *message.add_row_range_list();
    out.set_start_row(range.start);
    out.set_start_row_inclusive(range.with_start);
    out.set_stop_row(range.stop);
    out.set_stop_row_inclusive(range.with_stop);
  }
  return NamedFilter("MultiRowRangeFilter", message);
}
inline pb::Filter DependentOf(const std::string& qualifier, bool drop) {
  pb::DependentColumnFilter message;
  message.mutable_compare_filter()->set_compare_op(pb::NO_OP);
  message.set_column_family("f");
  message.set_column_qualifier(qualifier);
  message.set_drop_dependent_column(drop);
  return NamedFilter("DependentColumnFilter", message);
}
inline pb::Filter FirstMatching(const std::vector<std::string>& qualifiers) {
  pb::FirstKeyValueMatchingQualifiersFilter message;
  for (const auto& qualifier : qualifiers) message.add_qualifiers(qualifier);
  return NamedFilter("FirstKeyValueMatchingQualifiersFilter", message);
}
template <class Message>
inline pb::Filter Empty(const std::string& name) {
  return NamedFilter(name, Message());
}

}  // namespace ratchet::regionserver
