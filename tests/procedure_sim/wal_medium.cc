// The real store on a simulated disk: power failures at every operation of commit, roll, clean-up and claim, with an
// executor that must recover from the result.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/io/fatal.h"
#include "procedure/store/claim.h"
#include "procedure/store/format.h"
#include "procedure/store/wal_store.h"
#include "tests/procedure_sim/store_double.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::sim {
namespace {

using io::SimEvent;
using io::SimOp;
using io::SimVerdict;

procedure::WalStoreOptions Options() {
  procedure::WalStoreOptions options;
  options.segment_bytes = 8 << 10;  // rolls all the time
  options.segment_age = Millis{3'000};
  options.max_segments = 3;
  options.max_frame_bytes = 2 << 10;
  options.spares = 1;
  options.threads = false;
  options.owner = "sim";
  return options;
}

class WalDouble final : public StoreDouble {
 public:
  explicit WalDouble(io::SimDisk& disk) : disk_(disk), process_(disk.NewProcess()) {}

  Result<procedure::LoadedState> Claim() override {
    RATCHET_ASSIGN(auto directory, process_->OpenOrMake("/procedures"));
    RATCHET_ASSIGN(auto quarantine, process_->OpenOrMake("/quarantine"));
    RATCHET_ASSIGN(auto root, process_->OpenOrMake("/"));
    RATCHET_ASSIGN(auto guard, procedure::RootGuard::Open(std::move(root)));
    store_ = std::make_unique<procedure::WalStore>(std::move(directory), std::move(quarantine), time_, Options(),
                                                   std::move(guard));
    store_->AnnounceGroups([this] {
      if (group_ended_ && !process_->crashed()) group_ended_();
    });
    auto loaded = store_->Claim();
    process_->SetHook({});
    return loaded;
  }
  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override {
    ++in_flight_;
    store_->Commit(std::move(batch), [this, done = std::move(done)](Result<std::uint64_t> sequence) mutable {
      --in_flight_;
      if (!sequence.ok() && sequence.error().code() == Code::kStale)
        violation_ = "versions: " + sequence.error().ToString();
      if (!process_->crashed()) done(std::move(sequence));
    });
  }
  bool AnnounceGroups(std::function<void()> ended) override {
    group_ended_ = std::move(ended);
    return true;
  }
  Status Check() override {
    if (store_ == nullptr) return Error(Code::kFenced, "it has not claimed");
    return store_->Check();
  }
  std::uint64_t NextSequence() override { return store_->NextSequence(); }
  Status Admit() override { return store_->Admit(); }
  void Stop() override {}
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return store_->metrics(); }

  bool Pump() override {
    time_.Advance(Millis{20});
    if (store_->StepOnce()) return true;
    return store_->StepHousekeeping();
  }
  [[nodiscard]] std::size_t in_flight() const override { return in_flight_; }
  void DieInClaim(std::uint64_t operations) override {
    process_->SetHook(io::CrashAtOp(process_->operations() + 1 + operations, operations % 2 == 0));
  }
  void PowerFailure(CrashPhase phase, Prng& prng) override {
    if (store_ != nullptr && !process_->crashed() && phase == CrashPhase::kWritten) {
      // The crash is at any operation of the next frame, including a roll, and of concurrent housekeeping.
      process_->SetHook(io::CrashAtOp(process_->operations() + 1 + prng.Below(6), prng.Chance(1, 2)));
      for (int i = 0; i < 6 && !process_->crashed() && (store_->StepOnce() || store_->StepHousekeeping()); ++i) {
      }
    }
    if (store_ != nullptr && !process_->crashed() && phase == CrashPhase::kSynced) {
      process_->SetHook([](const SimEvent& event) {
        return event.op == SimOp::kSyncFile ? SimVerdict::CrashAfter() : SimVerdict::Proceed();
      });
      store_->StepOnce();
    }
    process_->Crash();
    disk_.PowerFailure(prng.Chance(1, 2) ? io::SimDisk::Loss::kRandom : io::SimDisk::Loss::kEverything, prng.Next());
  }
  [[nodiscard]] const std::string& violation() const override { return violation_; }

 private:
  io::SimDisk& disk_;
  const std::unique_ptr<io::SimDisk::Process> process_;
  ManualTime time_;
  std::size_t in_flight_ = 0;
  std::string violation_;
  std::function<void()> group_ended_;
  std::unique_ptr<procedure::WalStore> store_;
};

class WalMedium final : public Medium {
 public:
  WalMedium() {
    // A failed sync ends a process (S6: failed sync ends the process); here the process is already dead when a sync
    // fails.
    [[maybe_unused]] static const bool installed = [] {
      io::SetFatalHandler([](const std::string&) {});
      return true;
    }();
  }
  std::unique_ptr<StoreDouble> Open() override { return std::make_unique<WalDouble>(*disk_); }
  // Copies everything that a process would read now, synced or not; completed commits are synced.
  std::unique_ptr<Medium> Copy() const override {
    return CopyWith([](const std::string&, std::string&) {});
  }
  std::unique_ptr<Medium> DamagedCopy(Prng& prng, std::string& what) const override {
    const auto reader = disk_->NewProcess();
    const auto folder = reader->OpenOrMake("/procedures");
    RATCHET_CHECK(folder.ok(), "{}", folder.error().ToString());
    std::vector<std::string> segments;
    const auto names = (*folder)->List();
    RATCHET_CHECK(names.ok(), "{}", names.error().ToString());
    for (const std::string& name : *names) {
      if (procedure::ParseNumberedName(procedure::kSegmentPrefix, name)) segments.push_back(name);
    }
    if (segments.empty()) return nullptr;
    const std::string chosen = segments[prng.Below(segments.size())];
    return CopyWith([&](const std::string& name, std::string& bytes) {
      if (name != chosen || bytes.empty()) return;
      const std::size_t at = prng.Below(bytes.size());
      static constexpr const char* kKinds[] = {"a byte flipped", "cut", "zeros up to the 512th byte"};
      const std::uint64_t kind = prng.Below(3);
      switch (kind) {
        case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << prng.Below(8))); break;
        case 1: bytes.resize(at); break;
        default:
          std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(at, 512)), '\0');
      }
      what = chosen + ", at " + std::to_string(at) + ": " + kKinds[kind];
    });
  }

 private:
  using Change = std::function<void(const std::string&, std::string&)>;
  std::unique_ptr<Medium> CopyWith(const Change& change) const {
    auto copy = std::make_unique<WalMedium>();
    const auto reader = disk_->NewProcess();
    const auto writer = copy->disk_->NewProcess();
    for (const char* folder : {"/procedures", "/quarantine"}) {
      const Status copied = CopyFolder(*reader, *writer, folder, change);
      RATCHET_CHECK(copied.ok(), "{}: {}", folder, copied.error().ToString());
    }
    return copy;
  }

  static Status CopyFolder(io::Disk& from, io::Disk& to, const char* folder, const Change& change) {
    RATCHET_ASSIGN(const auto source, from.OpenOrMake(folder));
    RATCHET_ASSIGN(const auto target, to.OpenOrMake(folder));
    RATCHET_ASSIGN(const auto names, source->List());
    for (const std::string& name : names) {
      RATCHET_ASSIGN(std::string bytes, source->ReadAll(name));
      change(name, bytes);
      RATCHET_ASSIGN(const auto file, target->Create(name));
      RATCHET_TRY(file->Append(bytes));
      RATCHET_TRY(file->Sync());
    }
    return target->Sync();
  }

  const std::unique_ptr<io::SimDisk> disk_ = std::make_unique<io::SimDisk>();
};

}  // namespace

std::unique_ptr<Medium> MakeWalMedium() { return std::make_unique<WalMedium>(); }

}  // namespace ratchet::sim
