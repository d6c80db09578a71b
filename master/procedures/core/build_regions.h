// BuildRegions: one order to one live server, to make the first manifests of new regions out of closed ones (S35: proof
// of a clean close, to S37: numbered build output). The build's number is this procedure's pid. The result is a
// pb::OrderResult; with an answer, its payload is a BuildRegionsResult. An order to a server that is no longer online
// is abandoned: the files that the server makes carry a number that the caller then does not use.
#pragma once

#include <string>
#include <vector>

#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

class BuildRegions final : public RemoteOrder<BuildRegions, pb::BuildRegionsData> {
 public:
  static constexpr std::string_view kTypeName = "BuildRegions";
  static constexpr bool kPointOfNoReturn = true;
  using RemoteOrder::RemoteOrder;
  // `schema_number`: number of the table's descriptor, which every send of the order carries.
  static ProcedurePtr Make(const std::vector<RegionInfo>& parents, const std::vector<RegionInfo>& children,
                           const std::string& server, std::uint64_t schema_number);
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] bool NeedsMeta() const { return true; }
  [[nodiscard]] Acted<Result<BuildOrder>> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
