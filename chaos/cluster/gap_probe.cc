#include "chaos/cluster/gap_probe.h"

#include <fmt/format.h>

#include "chaos/cluster/child_process.h"
#include "common/base/prng.h"
#include "common/base/thread_name.h"
#include "common/client/admin.h"
#include "common/client/table.h"

namespace ratchet::chaos {
namespace {

constexpr int kPauseRound = 4;  // a few ms between two operations of a thread, which leaves the cluster capacity

constexpr std::uint64_t kTurnsToConnect = 2;  // not counted, because they locate the region and connect to its server

std::string KeyOf(int region) { return fmt::format("{:03}", region); }

}  // namespace

GapProbe::GapProbe(client::Connection& connection, int regions)
    : connection_(connection),
      table_("default", fmt::format("rolling_restart_{:08x}", RandomSeed() & 0xffffffffU)),
      regions_(regions) {}

GapProbe::~GapProbe() { StopThreads(); }

Status GapProbe::Begin() {
  TableDescriptor descriptor;
  descriptor.name = table_;
  descriptor.families.push_back(DefaultFamily("p"));
  std::vector<std::string> splits;
  for (int i = 1; i < regions_; ++i) splits.push_back(KeyOf(i));
  client::Admin admin(connection_);
  RATCHET_TRY(admin.WaitOk(admin.CreateTable(descriptor, splits)));
  for (int i = 0; i < regions_; ++i) threads_.emplace_back([this, row = KeyOf(i)] { Run(row); });
  return Ok();
}

void GapProbe::Now(const std::string& what) {
  const MutexLock lock(mutex_);
  now_ = what;
}

void GapProbe::Run(const std::string& row) {
  SetThreadName("gap-probe");
  client::Table table(connection_, table_);
  for (std::uint64_t turn = 0; !stopping_; ++turn) {
    std::string meanwhile;
    {
      const MutexLock lock(mutex_);
      meanwhile = now_;
    }
    const TimePoint begun = clock_.Now();
    Status done = Ok();
    if (turn % 2 == 0) {
      const auto put = table.Mutate(client::Mutation::Put(row).Set("p", "turn", fmt::format("{}", turn)));
      if (!put.ok()) done = put.error();
    } else {
      client::Get get;
      get.row = row;
      const auto got = table.Get(get);
      if (!got.ok()) done = got.error();
    }
    const Millis length = std::chrono::duration_cast<Millis>(clock_.Now() - begun);
    {
      const MutexLock lock(mutex_);
      if (turn < kTurnsToConnect && done.ok()) continue;
      ++longest_.operations;
      if (!done.ok()) longest_.failed = fmt::format("{}: {}", meanwhile, done.error().ToString());
      if (length > longest_.length) {
        longest_.length = length;
        longest_.meanwhile = meanwhile;
      }
    }
    PollPause(kPauseRound);
  }
}

void GapProbe::StopThreads() {
  stopping_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

Result<LongestOperation> GapProbe::End() {
  StopThreads();
  client::Admin admin(connection_);
  RATCHET_TRY(admin.WaitOk(admin.DisableTable(table_)));
  RATCHET_TRY(admin.WaitOk(admin.DeleteTable(table_)));
  const MutexLock lock(mutex_);
  return longest_;
}

}  // namespace ratchet::chaos
