// Executes the order to make regions out of regions.
#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "regionserver/host/region_host.h"

namespace ratchet::regionserver {

OrderAnswer RegionHost::Build(const BuildOrder& order) {
  const TimePoint begun = clock_.Now();
  const Result<BuildReport> report = RunBuild(order);
  if (!report.ok()) {
    RATCHET_LOG(kWarn, "pid={} Build of regions failed: {}", order.pid, report.error().ToString());
    return FailedAnswer(OrderOutcome::kFailed, report.error());
  }
  RATCHET_LOG(kInfo, "pid={} Built {} regions of {}, files={}, sequence={}, in {} ms{}", order.pid,
              order.parameter.child_size(), order.parameter.parent_size(), report->files, report->sequence,
              std::chrono::duration_cast<Millis>(clock_.Now() - begun).count(),
              report->not_clean.empty() ? "" : ": none, as " + report->not_clean);
  pb::BuildRegionsResult result;
  if (!report->not_clean.empty()) result.set_not_clean(report->not_clean);
  result.set_sequence(report->sequence);
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kDone;
  answer.payload = result.SerializeAsString();
  return answer;
}

Result<BuildReport> RegionHost::RunBuild(const BuildOrder& order) const {
  std::vector<std::unique_ptr<io::Directory>> open;
  const auto parts = [&](const auto& regions) -> Result<std::vector<BuildPart>> {
    std::vector<BuildPart> made;
    for (const pb::RegionInfo& region : regions) {
      BuildPart part;
      RATCHET_ASSIGN(part.region, FromProto(region));
      RATCHET_ASSIGN(auto directory, RegionDirectory(order.parameter.table_dir(), part.region.encoded_name()));
      part.directory = directory.get();
      open.push_back(std::move(directory));
      made.push_back(std::move(part));
    }
    return made;
  };
  BuildRequest request;
  request.number = order.pid.value();
  RATCHET_ASSIGN(request.parents, parts(order.parameter.parent()));
  RATCHET_ASSIGN(request.children, parts(order.parameter.child()));
  RATCHET_ASSIGN(const TableDescriptor table, FromProto(order.parameter.schema()));
  request.families = table.families;
  RATCHET_TRY(CheckFence());  // a fenced server must not begin
  RATCHET_ASSIGN(BuildReport report, BuildRegions(request));
  RATCHET_TRY(CheckFence());
  return report;
}

}  // namespace ratchet::regionserver
