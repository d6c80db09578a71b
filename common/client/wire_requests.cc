#include "common/client/wire_requests.h"

#include <map>

#include "common/base/check.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/filter.pb.h"

namespace ratchet::client {
namespace {

using hbase::pb::MutationProto;

template <class Message>
void AddColumns(const std::vector<Column>& columns, Message& out) {
  std::map<std::string, hbase::pb::Column*> families;
  for (const auto& column : columns) {
    auto& family = families[column.family];
    if (family == nullptr) {
      family = out.add_column();
      family->set_family(column.family);
    }
    if (column.qualifier) family->add_qualifier(*column.qualifier);
  }
}

template <class Message>
void SetTime(const TimeBounds& time, Message& out) {
  if (time.from) out.mutable_time_range()->set_from(static_cast<std::uint64_t>(*time.from));
  if (time.to) out.mutable_time_range()->set_to(static_cast<std::uint64_t>(*time.to));
}

MutationProto::MutationType TypeOf(MutationKind kind) {
  switch (kind) {
    case MutationKind::kPut: return MutationProto::PUT;
    case MutationKind::kDelete: return MutationProto::DELETE;
    case MutationKind::kAppend: return MutationProto::APPEND;
    case MutationKind::kIncrement: return MutationProto::INCREMENT;
  }
  return MutationProto::PUT;
}

MutationProto::DeleteType DeleteTypeOf(CellType type) {
  switch (type) {
    case CellType::kDeleteColumn: return MutationProto::DELETE_MULTIPLE_VERSIONS;
    case CellType::kDeleteFamily: return MutationProto::DELETE_FAMILY;
    case CellType::kDeleteFamilyVersion: return MutationProto::DELETE_FAMILY_VERSION;
    case CellType::kDelete:
    case CellType::kPut: break;
  }
  return MutationProto::DELETE_ONE_VERSION;
}

}  // namespace

void ToProto(const Get& get, hbase::pb::Get& out) {
  out.set_row(get.row);
  AddColumns(get.columns, out);
  SetTime(get.time, out);
  out.set_max_versions(get.max_versions);
}

void ToProto(const Mutation& mutation, std::uint64_t nonce, MutationProto& out) {
  out.set_row(mutation.row);
  out.set_mutate_type(TypeOf(mutation.kind));
  if (nonce != 0) out.set_nonce(nonce);
  for (const auto& [name, value] : mutation.attributes) {
    auto* attribute = out.add_attribute();
    attribute->set_name(name);
    attribute->set_value(value);
  }
  std::map<std::string_view, MutationProto::ColumnValue*> families;
  for (const auto& cell : mutation.cells) {
    auto& family = families[cell.family];
    if (family == nullptr) {
      family = out.add_column_value();
      family->set_family(cell.family);
    }
    auto* value = family->add_qualifier_value();
    value->set_qualifier(cell.qualifier);
    if (cell.timestamp != kLatestTimestamp) value->set_timestamp(static_cast<std::uint64_t>(cell.timestamp));
    if (mutation.kind == MutationKind::kDelete)
      value->set_delete_type(DeleteTypeOf(cell.type));
    else
      value->set_value(cell.value);
  }
}

void ToProto(const std::string& row, const Condition& condition, hbase::pb::Condition& out) {
  out.set_row(row);
  out.set_family(condition.family);
  out.set_qualifier(condition.qualifier);
  out.set_compare_type(static_cast<hbase::pb::CompareType>(condition.op));
  hbase::pb::BinaryComparator comparator;
  comparator.mutable_comparable()->set_value(condition.expected);
  out.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
  out.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
}

void ToProto(const Scan& scan, hbase::pb::Scan& out) {
  AddColumns(scan.columns, out);
  SetTime(scan.time, out);
  out.set_start_row(scan.start_row);
  out.set_stop_row(scan.stop_row);
  out.set_include_start_row(scan.include_start);
  out.set_include_stop_row(scan.include_stop);
  out.set_reversed(scan.reversed);
  out.set_max_versions(scan.max_versions);
  out.set_max_result_size(scan.bytes_per_call);
  out.set_caching(scan.rows_per_call);
  if (!scan.filter.empty())
    RATCHET_CHECK(out.mutable_filter()->ParseFromString(scan.filter),
                  "the bytes of a filter are not a protobuf message");
}

}  // namespace ratchet::client
