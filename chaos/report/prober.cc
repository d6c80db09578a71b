#include "chaos/report/prober.h"

#include <algorithm>

#include <fmt/core.h>

#include "chaos/cluster/child_process.h"
#include "common/base/thread_name.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr int kPauseRound = 18;  // about 20 ms between two probes of a thread: the workloads make the traffic

}  // namespace

std::optional<Gap> LongestGap(const std::vector<Gap>& gaps, std::int64_t from_ms, std::int64_t to_ms) {
  std::optional<Gap> longest;
  for (Gap gap : gaps) {
    if (gap.to_ms <= from_ms || gap.from_ms > to_ms) continue;
    gap.from_ms = std::max(gap.from_ms, from_ms);
    if (!longest || gap.length() > longest->length()) longest = gap;
  }
  return longest;
}

Prober::Prober(client::Connection& connection, const std::string& table_prefix, int regions)
    : connection_(connection), table_("default", table_prefix + "probe") {
  for (int i = 0; i < regions; ++i) probes_.push_back({fmt::format("{:03}~", i), 0, {}});
  probes_.push_back({"", 0, {}});
}

Prober::~Prober() { Stop(); }

Status Prober::Prepare() {
  TableDescriptor descriptor;
  descriptor.name = table_;
  descriptor.families.push_back(DefaultFamily("p"));
  std::vector<std::string> splits;
  {
    MutexLock lock(mutex_);
    for (std::size_t i = 1; i + 1 < probes_.size(); ++i) splits.push_back(probes_[i].row.substr(0, 3));
  }
  client::Admin admin(connection_);
  return admin.WaitOk(admin.CreateTable(descriptor, splits));
}

void Prober::Start() {
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    probes_[i].last_answer_ms = clock_.WallMillis();
    threads_.emplace_back([this, i] { Run(i); });
  }
}

void Prober::Stop() {
  stopping_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Prober::Run(std::size_t number) {
  SetThreadName(fmt::format("probe-{}", number));
  std::string row;
  {
    MutexLock lock(mutex_);
    row = probes_[number].row;
  }
  for (std::uint64_t turn = 0; !stopping_; ++turn) {
    if (AskOnce(row, turn)) {
      const std::int64_t now = clock_.WallMillis();
      MutexLock lock(mutex_);
      Probe& probe = probes_[number];
      if (now - probe.last_answer_ms >= kShortestMs) probe.gaps.push_back({probe.last_answer_ms, now});
      probe.last_answer_ms = now;
    }
    PollPause(kPauseRound);
  }
}

bool Prober::AskOnce(const std::string& row, std::uint64_t turn) {
  if (row.empty()) {
    client::Admin admin(connection_);
    return admin.Call(methods::kListServers, pb::ListServersRequest()).ok();
  }
  client::Table table(connection_, table_);
  return table.Mutate(client::Mutation::Put(row).Set("p", "turn", fmt::format("{}", turn))).ok();
}

std::vector<Gap> Prober::Gaps() const {
  std::vector<Gap> all;
  const std::int64_t now = clock_.WallMillis();
  MutexLock lock(mutex_);
  for (const auto& probe : probes_) {
    all.insert(all.end(), probe.gaps.begin(), probe.gaps.end());
    if (!stopping_ && now - probe.last_answer_ms >= kShortestMs) all.push_back({probe.last_answer_ms, now});
  }
  return all;
}

}  // namespace ratchet::chaos
