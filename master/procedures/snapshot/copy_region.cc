#include "master/procedures/snapshot/copy_region.h"

#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/base/exception_names.h"
#include "common/model/codec.h"
#include "common/model/proto/snapshot.pb.h"

namespace ratchet::master {
namespace {

CopyOrder::Source SourceOf(const pb::CopyRegionData& data) {
  switch (data.kind()) {
    case pb::CopyRegionData::OPEN_REGION: return CopyOrder::Source::kOpenRegion;
    case pb::CopyRegionData::CLOSED_REGION: return CopyOrder::Source::kClosedRegion;
    case pb::CopyRegionData::PART: break;
  }
  return CopyOrder::Source::kPart;
}

// Returns true for the answer of a server that does not have the region open, or not yet.
bool IsElsewhere(std::string_view error_class) {
  return error_class == exception::kNotServingRegion || error_class == exception::kRegionMoved ||
         error_class == exception::kRegionOpening;
}

}  // namespace

template <class P>
procedure::Description CopyOrderProcedure<P>::Describe() const {
  const pb::CopyRegionData& data = this->data_;
  const RegionInfo source = FromData(data.source());
  procedure::Description about;
  about.Add("snapshot", data.snapshot()).Add("table", source.table.ToString()).Add("region", source.encoded_name());
  about.Add("server", data.server());
  if (!data.has_target()) return about;
  const RegionInfo target = FromData(data.target());
  return about.Add("into table", target.table.ToString()).Add("region", target.encoded_name());
}

template <class P>
Acted<Result<CopyOrder>> CopyOrderProcedure<P>::MakeOrder(StepContext& /*ctx*/) const {
  const pb::CopyRegionData& data = this->data_;
  CopyOrder order;
  order.kind = SourceOf(data);
  order.source = FromData(data.source());
  order.target = data.has_target() ? FromData(data.target()) : order.source;
  order.snapshot = data.snapshot();
  order.table_directory = data.table_directory();
  order.flush = data.flush();
  order.opened_before = data.opened_before();
  order.build_number = data.build_number();
  order.part = data.part();
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromString(data.schema()))
    return {std::nullopt, Error(Code::kCorruption, "unreadable table schema")};
  auto descriptor = FromProto(schema);
  if (!descriptor.ok()) return {std::nullopt, descriptor.error()};
  order.schema = std::make_shared<const TableDescriptor>(*std::move(descriptor));
  return Ready(std::move(order));
}

template <class P>
void CopyOrderProcedure<P>::Fill(pb::OrderResult& result) const {
  result.set_encoded_region(FromData(this->data_.source()).encoded_name());
}

template class CopyOrderProcedure<SnapshotRegion>;
template class CopyOrderProcedure<CloneRegion>;

ProcedurePtr SnapshotRegion::Make(const RegionNode& node, const std::string& server, const pb::SnapshotData& snapshot,
                                  bool flush) {
  pb::CopyRegionData data;
  data.set_kind(node.state == RegionState::kOpen ? pb::CopyRegionData::OPEN_REGION : pb::CopyRegionData::CLOSED_REGION);
  *data.mutable_source() = ToData(node.info);
  data.set_snapshot(snapshot.directory());
  data.set_table_directory(snapshot.table_directory());
  data.set_flush(flush);
  data.set_opened_before(node.open_sequence > 0);
  if (node.build_number != 0) data.set_build_number(node.build_number);
  data.set_schema(snapshot.schema());
  data.set_server(server);
  data.set_attempt(1);
  return std::make_unique<SnapshotRegion>(std::move(data));
}

ProcedurePtr CloneRegion::Make(const pb::CopiedRegion& from, const RegionInfo& region, const std::string& server,
                               const pb::TableData& table) {
  pb::CopyRegionData data;
  data.set_kind(pb::CopyRegionData::PART);
  *data.mutable_source() = from.part();
  *data.mutable_target() = ToData(region);
  data.set_snapshot(table.snapshot_directory());
  data.set_table_directory(table.directory());
  data.set_part(from.number());
  data.set_schema(table.schema());
  data.set_server(server);
  data.set_attempt(1);
  return std::make_unique<CloneRegion>(std::move(data));
}

CopyRound CopiesOf(StepContext& ctx) {
  CopyRound round;
  for (const auto& child : ctx.children()) {
    const pb::OrderResult result = ReadOrderResult(child.result);  // empty if an operator ended it
    hbase::pb::CopyRegionResult copied;
    if (result.outcome() == pb::DONE && copied.ParseFromString(result.payload()) && copied.not_ready().empty()) {
      round.made.push_back({result.encoded_region(), child.pid, copied.sequence(), copied.files(), copied.bytes()});
      continue;
    }
    if (result.outcome() == pb::FAILED && !IsElsewhere(result.error_class())) round.refused = true;
    if (!copied.not_ready().empty()) round.not_ready = result.encoded_region();
    round.why = fmt::format("region {} is not copied: {}", result.encoded_region(),
                            copied.not_ready().empty() ? result.error_message() : copied.not_ready());
  }
  return round;
}

}  // namespace ratchet::master
