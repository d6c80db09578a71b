#include "master/procedures/new_table.h"

#include <memory>
#include <string>

#include "common/model/codec.h"
#include "common/model/proto/common.pb.h"
#include "master/env/cluster_files.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/errors.h"

namespace ratchet::master {

Result<TableDescriptor> DescriptorIn(const pb::TableData& data) {
  hbase::pb::TableSchema schema;
  if (!schema.ParseFromString(data.schema())) return IllegalRequest("unreadable table schema");
  auto descriptor = FromProto(schema);
  if (!descriptor.ok()) return IllegalRequest(descriptor.error().message());
  return descriptor;
}

std::vector<RegionInfo> NewRegionsOf(const pb::TableData& data, ProcId creator) {
  std::vector<RegionInfo> regions(static_cast<std::size_t>(data.split_keys_size()) + 1);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    regions[i].table = TableOf(data);
    regions[i].region_id = RegionIdFor(creator);
    if (i > 0) regions[i].start_key = data.split_keys(static_cast<int>(i) - 1);
    if (i + 1 < regions.size()) regions[i].end_key = data.split_keys(static_cast<int>(i));
  }
  return regions;
}

MetaEdit CreationOf(const RegionInfo& region) {
  return EditRegion(MetaEdit::Kind::kCreateRegion, {region, RegionState::kClosed, {}, {}, 0, kCreatedTransition});
}

TableNode NewTableNode(const pb::TableData& data, ProcId creator) {
  TableNode node;
  node.name = TableOf(data);
  node.directory = data.directory();
  if (auto descriptor = DescriptorIn(data); descriptor.ok()) {
    node.schema = std::make_shared<const TableDescriptor>(std::move(*descriptor));
  }
  node.descriptor = creator.value();
  return node;
}

std::optional<StepOutcome> MakeNewLayout(StepContext& ctx, const pb::TableData& data) {
  const auto descriptor = DescriptorIn(data);
  if (!descriptor.ok()) return Fail{descriptor.error()};
  std::vector<std::string> encoded;
  for (const RegionInfo& region : NewRegionsOf(data, ctx.pid())) encoded.push_back(region.encoded_name());
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status made = EnvOf(ctx).files.CreateTableLayout(data.directory(), ctx.pid(), *descriptor, encoded);
  if (made.ok()) return std::nullopt;
  // What will not get better by itself is the client's to know; the rest is tried again, until an operator aborts it.
  const Code code = made.error().code();
  if (code == Code::kNoSpace || code == Code::kFailedPrecondition || code == Code::kInvalidArgument)
    return Fail{made.error()};
  return Retry{made.error(), std::nullopt};
}

Status ArchiveNewLayout(StepContext& ctx, const pb::TableData& data) {
  RATCHET_TRY(ctx.CheckOwner());
  return EnvOf(ctx).files.ArchiveTableLayout(data.directory(), ctx.epoch());
}

std::vector<ProcedurePtr> AssignNewRegions(const pb::TableData& data, ProcId creator) {
  std::vector<ProcedurePtr> assigns;
  for (const RegionInfo& region : NewRegionsOf(data, creator)) {
    assigns.push_back(TransitRegionState::Assign(region, {}));
  }
  return assigns;
}

}  // namespace ratchet::master
