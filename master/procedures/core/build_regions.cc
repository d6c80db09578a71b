#include "master/procedures/core/build_regions.h"

#include <utility>

#include <fmt/format.h>

#include "master/cluster/membership.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {

ProcedurePtr BuildRegions::Make(const std::vector<RegionInfo>& parents, const std::vector<RegionInfo>& children,
                                const std::string& server, std::uint64_t schema_number) {
  pb::BuildRegionsData data;
  for (const RegionInfo& parent : parents) *data.add_parents() = ToData(parent);
  for (const RegionInfo& child : children) *data.add_children() = ToData(child);
  data.set_server(server);
  data.set_attempt(1);
  data.set_schema_number(schema_number);
  return std::make_unique<BuildRegions>(std::move(data));
}

procedure::Description BuildRegions::Describe() const {
  const RegionInfo parent = FromData(data_.parents(0));
  return procedure::Description()
      .Add("table", parent.table.ToString())
      .Add("parents", data_.parents_size())
      .Add("first", parent.encoded_name())
      .Add("children", data_.children_size())
      .Add("server", data_.server());
}

Acted<Result<BuildOrder>> BuildRegions::MakeOrder(StepContext& ctx) const {
  BuildOrder order;
  for (const pb::Region& parent : data_.parents()) order.parents.push_back(FromData(parent));
  for (const pb::Region& child : data_.children()) order.children.push_back(FromData(child));
  auto read = ReadPinnedSchema(ctx, order.parents.front().table, data_.schema_number());
  if (read.wait) return {std::move(read.wait), std::nullopt};
  if (!read.result->ok()) return {std::nullopt, read.result->error()};
  order.table_directory = (*read.result)->directory;
  order.schema = (*read.result)->schema;
  return Ready(std::move(order));
}

}  // namespace ratchet::master
