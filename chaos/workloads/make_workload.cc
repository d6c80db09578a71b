#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "chaos/workloads/alter.h"
#include "chaos/workloads/balance.h"
#include "chaos/workloads/bank.h"
#include "chaos/workloads/ddl.h"
#include "chaos/workloads/drain.h"
#include "chaos/workloads/huge_rows.h"
#include "chaos/workloads/java.h"
#include "chaos/workloads/lists.h"
#include "chaos/workloads/registers.h"
#include "chaos/workloads/replication.h"
#include "chaos/workloads/scans.h"
#include "chaos/workloads/snapshots.h"
#include "chaos/workloads/splits.h"
#include "chaos/workloads/workload.h"

namespace ratchet::chaos {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(WorkloadContext);
  bool second_cluster = false;
  // Why its program in another language cannot run; null: it has none.
  std::optional<std::string> (*why_not)(const std::filesystem::path&) = nullptr;
};
constexpr std::array kKinds = {Kind{"registers", &MakeRegisters},
                               Kind{"lists", &MakeLists},
                               Kind{"bank", &MakeBank},
                               Kind{"ddl", &MakeDdl},
                               Kind{"huge-rows", &MakeHugeRows},
                               Kind{"splits", &MakeSplits},
                               Kind{"snapshots", &MakeSnapshots},
                               Kind{"alter", &MakeAlter},
                               Kind{"drain", &MakeDrain},
                               Kind{"balance", &MakeBalance},
                               Kind{"scans", &MakeScans},
                               Kind{"java", &MakeJava, false, &WhyNoJava},
                               Kind{"replication", &MakeReplication, true}};

const Kind* FindKind(std::string_view name) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [name](const Kind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string_view> WorkloadNames() {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) names.push_back(kind.name);
  return names;
}

std::vector<std::string_view> UsualWorkloadNames() {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) {
    if (!kind.second_cluster && kind.why_not == nullptr) names.push_back(kind.name);
  }
  return names;
}

bool NeedsSecondCluster(std::string_view name) {
  const Kind* const kind = FindKind(name);
  return kind != nullptr && kind->second_cluster;
}

bool NeedsClientProgram(std::string_view name) {
  const Kind* const kind = FindKind(name);
  return kind != nullptr && kind->why_not != nullptr;
}

std::optional<std::string> WhyNoWorkload(std::string_view name, const std::filesystem::path& clients) {
  const Kind* const kind = FindKind(name);
  return kind == nullptr || kind->why_not == nullptr ? std::nullopt : kind->why_not(clients);
}

Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name, WorkloadContext context) {
  if (const Kind* const kind = FindKind(name)) return kind->make(std::move(context));
  return Error(Code::kInvalidArgument,
               fmt::format("unknown workload \"{}\"; choose from: {}", name, fmt::join(WorkloadNames(), ", ")));
}

}  // namespace ratchet::chaos
