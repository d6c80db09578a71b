// BuildRegions: one order to one live server, to make the first manifests of new regions out of closed ones (S35: proof
// of a clean close, to S37: numbered build output). The build's number is this procedure's pid. The result is a
// pb::OrderResult; with an answer, its payload is a BuildRegionsResult. An order to a server that is no longer online
// is abandoned: the files that the server makes carry a number that the caller then does not use.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/env/orders.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class BuildRegions final : public MasterProcedure<BuildRegions, pb::BuildRegionsData>,
                           public procedure::FromTheBeginning {
 public:
  static constexpr std::string_view kTypeName = "BuildRegions";
  static constexpr auto Steps() {
    return std::array{On<&BuildRegions::Dispatch>(1, "DISPATCH", kNoReturn, kNeedsMeta)};
  }
  using MasterProcedure::MasterProcedure;
  // `schema_number`: number of the table's descriptor, which every send of the order carries.
  static ProcedurePtr Make(const std::vector<RegionInfo>& parents, const std::vector<RegionInfo>& children,
                           const std::string& server, std::uint64_t schema_number);
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return data_.attempt(); }
  [[nodiscard]] std::string Describe() const override;

 private:
  StepOutcome Dispatch(StepContext& ctx);
  [[nodiscard]] Acted<Result<BuildOrder>> MakeOrder(StepContext& ctx) const;
};

}  // namespace ratchet::master
