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
#include "chaos/workloads/lists.h"
#include "chaos/workloads/registers.h"
#include "chaos/workloads/replication.h"
#include "chaos/workloads/snapshots.h"
#include "chaos/workloads/splits.h"
#include "chaos/workloads/workload.h"

namespace ratchet::chaos {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(WorkloadContext);
  bool second_cluster = false;
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
                               Kind{"replication", &MakeReplication, true}};

}  // namespace

std::vector<std::string_view> WorkloadNames() {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) names.push_back(kind.name);
  return names;
}

std::vector<std::string_view> UsualWorkloadNames() {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) {
    if (!kind.second_cluster) names.push_back(kind.name);
  }
  return names;
}

bool NeedsSecondCluster(std::string_view name) {
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [name](const Kind& kind) { return kind.name == name && kind.second_cluster; });
}

Result<std::unique_ptr<Workload>> MakeWorkload(std::string_view name, WorkloadContext context) {
  for (const auto& kind : kKinds) {
    if (kind.name == name) return kind.make(std::move(context));
  }
  return Error(Code::kInvalidArgument,
               fmt::format("there is no workload \"{}\"; choose from: {}", name, fmt::join(WorkloadNames(), ", ")));
}

}  // namespace ratchet::chaos
