#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/io/disk.h"
#include "procedure/api/state_machine_procedure.h"
#include "procedure/store/wal_store.h"
#include "tests/costs/counting_disk.h"
#include "tests/costs/measured.h"
#include "tests/support/crash_sweep.h"

namespace ratchet::costs {
namespace {

using namespace procedure;  // NOLINT(google-build-using-namespace): the measured code

constexpr int kSteps = 1'000;

struct StepsLeft {
  std::string text;
  [[nodiscard]] std::string SerializeAsString() const { return text; }
  bool ParseFromArray(const char* data, int size) {
    text.assign(data, static_cast<std::size_t>(size));
    return true;
  }
};

// Two durable steps in turn, until kSteps have run.
class Stepping final : public StateMachineProcedure<Stepping, StepsLeft> {
 public:
  using StateMachineProcedure::StateMachineProcedure;
  static constexpr std::string_view kTypeName = "Stepping";
  static constexpr auto Steps() {
    return std::array{On<&Stepping::One>(1, "ONE", kNothingToUndo), On<&Stepping::Two>(2, "TWO", kNothingToUndo)};
  }

 private:
  StepOutcome One(StepContext& /*context*/) { return GoTo<&Stepping::Two>(); }
  StepOutcome Two(StepContext& /*context*/) {
    const int left = std::stoi(data_.text) - 2;
    if (left <= 0) return Done{};
    data_.text = fmt::format("{:06}", left);
    return GoTo<&Stepping::One>();
  }
};

struct Master {
  Master() {
    registry.Register<Stepping>();
    life.emplace(disk, testing::CrashPlan{}, registry, EnvRef(), time);
    RATCHET_CHECK(life->Begin(), "the executor does not start");
  }
  ProcedureRegistry registry;
  testing::StoredState disk;
  ManualTime time;
  std::optional<testing::MasterLife> life;
};

struct Store {
  explicit Store(const std::string& dir) {
    std::filesystem::remove_all(dir);
    WalStoreOptions options;
    options.owner = "costs";
    options.spares = 0;  // the thread that fills them would be counted too
    CountingDisk disk(files, syncs);
    store = std::make_unique<WalStore>(disk.OpenOrMake(dir + "/procedures").value(),
                                       disk.OpenOrMake(dir + "/quarantine").value(), clock, options);
    RATCHET_CHECK(store->Claim().ok(), "no claim");
  }
  const SystemClock clock;
  io::Disk& files = io::PosixDisk();
  SyncCounts syncs{SyncCounts::Syncs::kLeaveOut};
  std::unique_ptr<WalStore> store;
  std::uint64_t pid = 0;
};

}  // namespace

Operation DurableStep() {
  const auto master = std::make_shared<Master>();
  const auto run = [master] {
    const std::uint64_t before = master->life->store().commits();
    const auto pid =
        master->life->executor().Submit(std::make_unique<Stepping>(StepsLeft{fmt::format("{:06}", kSteps)}), {});
    RATCHET_CHECK(pid.ok(), "not submitted");
    master->life->RunUntilIdle();
    const std::uint64_t commits = master->life->store().commits() - before;
    RATCHET_CHECK(commits >= kSteps && commits <= kSteps + 2, "{} commits", commits);
  };
  return {"master.durable_step", kSteps, run};
}

Operation StoreCommit(const std::string& dir) {
  const auto store = std::make_shared<Store>(dir);
  const auto run = [store] {
    for (std::size_t i = 0; i < kRound; ++i) {
      StoreBatch batch;
      batch.upserts.push_back({ProcId(++store->pid), 1, std::string(200, 's')});
      RATCHET_CHECK(store->store->CommitAndWait(std::move(batch)).ok(), "a commit failed");
    }
  };
  return {"store.commit", kRound, run};
}

}  // namespace ratchet::costs
