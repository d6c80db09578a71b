#include "common/tools/storage_check/trials.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/base/thread_name.h"
#include "common/io/fenced_directory.h"
#include "common/io/little_endian.h"
#include "common/io/storage_proof.h"

namespace ratchet::io {
namespace {

Error Wrong(std::string what) { return {Code::kFailedPrecondition, std::move(what)}; }

// Times operations by their names.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock) : clock_(clock) {}

  template <class Operation>
  auto Time(const std::string& name, Operation operation) {
    const TimePoint begun = clock_.Now();
    auto result = operation();
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(clock_.Now() - begun).count();
    for (auto& [known, times] : all_) {
      if (known != name) continue;
      times.push_back(static_cast<std::uint64_t>(took));
      return result;
    }
    all_.push_back({name, {static_cast<std::uint64_t>(took)}});
    return result;
  }

  std::vector<OperationTime> Latencies() {
    std::vector<OperationTime> latencies;
    for (auto& [name, times] : all_) {
      std::sort(times.begin(), times.end());
      latencies.push_back({name, times[times.size() / 2], times[times.size() * 99 / 100]});
    }
    return latencies;
  }

 private:
  const Clock& clock_;
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> all_;
};

struct Bench {
  Directory& first;
  Directory& second;
  Stopwatch& watch;
  int rounds;
};

// Makes and closes an empty file.
Status MakeFile(Directory& directory, const std::string& name) {
  RATCHET_ASSIGN(const auto file, directory.Create(name));
  return file->Close();
}

Status MustBe(Directory& directory, const std::string& name, bool there, const char* when) {
  RATCHET_ASSIGN(const bool found, directory.Exists(name));
  if (found == there) return Ok();
  return Wrong(fmt::format("{} {} {}", name, there ? "is not seen" : "is still seen", when));
}

Status ExclusiveCreate(Bench& bench) {
  RATCHET_TRY(bench.watch.Time("create", [&] { return MakeFile(bench.first, "exclusive"); }));
  const auto again = bench.second.Create("exclusive");
  if (again.ok()) return Wrong("a name was created twice");
  if (again.error().code() != Code::kAlreadyExists) return again.error();
  return bench.first.Unlink("exclusive");
}

Status NewNames(Bench& bench) {
  for (int i = 0; i < bench.rounds; ++i) {
    const std::string name = fmt::format("new.{}", i);
    RATCHET_TRY(MustBe(bench.second, name, false, "before it is made"));
    RATCHET_TRY(bench.watch.Time("create", [&] { return MakeFile(bench.first, name); }));
    RATCHET_TRY(bench.watch.Time("look", [&] { return MustBe(bench.second, name, true, "after it was made"); }));
    RATCHET_TRY(bench.watch.Time("unlink", [&] { return bench.second.Unlink(name); }));
    RATCHET_TRY(MustBe(bench.first, name, false, "after it was removed"));
  }
  return Ok();
}

Status Renames(Bench& bench) {
  RATCHET_TRY(MakeFile(bench.first, "before"));
  for (int i = 0; i < bench.rounds; ++i) {
    RATCHET_TRY(MustBe(bench.second, "before", true, "before the renaming"));
    RATCHET_TRY(MustBe(bench.second, "after", false, "before the renaming"));
    RATCHET_TRY(bench.watch.Time("rename", [&] { return bench.first.Rename("before", "after"); }));
    RATCHET_TRY(MustBe(bench.second, "before", false, "after it was renamed"));
    RATCHET_TRY(MustBe(bench.second, "after", true, "after it was renamed"));
    RATCHET_TRY(bench.first.Rename("after", "before"));
  }
  return bench.first.Unlink("before");
}

Status Links(Bench& bench) {
  RATCHET_TRY(MakeFile(bench.first, "linked"));
  RATCHET_TRY(bench.first.MakeDir("other"));
  RATCHET_ASSIGN(const auto other, bench.first.OpenDir("other"));
  const Status linked = bench.watch.Time("link", [&] { return bench.first.LinkTo("linked", *other, "y"); });
  RATCHET_TRY(bench.first.Unlink("linked"));
  if (linked.ok()) RATCHET_TRY(other->Unlink("y"));
  RATCHET_TRY(bench.first.RemoveDir("other"));
  return linked;
}

Status HandlesFollow(Bench& bench) {
  RATCHET_TRY(bench.first.MakeDir("d"));
  RATCHET_ASSIGN(const auto held, bench.second.OpenDir("d"));
  RATCHET_TRY(bench.first.Rename("d", "e"));
  RATCHET_TRY(MakeFile(*held, "followed"));
  RATCHET_ASSIGN(const auto renamed, bench.first.OpenDir("e"));
  RATCHET_TRY(MustBe(*renamed, "followed", true, "though it was made through the renamed directory's handle"));
  RATCHET_TRY(renamed->Unlink("followed"));
  return bench.first.RemoveDir("e");
}

Status DirectorySync(Bench& bench) {
  RATCHET_TRY(MakeFile(bench.first, "synced"));
  RATCHET_TRY(bench.watch.Time("directory sync", [&] { return bench.first.Sync(); }));
  return bench.first.Unlink("synced");
}

Status AppendAndSync(WritableFile& file) {
  RATCHET_TRY(file.Append("0123456789abcdef"));
  return file.Sync();
}

Status Appends(Bench& bench) {
  RATCHET_ASSIGN(const auto log, bench.first.Create("log"));
  RATCHET_ASSIGN(const auto reader, bench.second.OpenForRead("log"));
  for (int i = 0; i < bench.rounds; ++i) {
    RATCHET_TRY(bench.watch.Time("append and sync", [&] { return AppendAndSync(*log); }));
    RATCHET_ASSIGN(const std::uint64_t size, reader->size());
    if (size < log->size()) return Wrong(fmt::format("{} of {} synced bytes are seen", size, log->size()));
    std::array<char, 16> bytes{};
    RATCHET_ASSIGN(const std::size_t got, reader->ReadAt(log->size() - bytes.size(), bytes.data(), bytes.size()));
    if (std::string_view(bytes.data(), got) != "0123456789abcdef") return Wrong("synced bytes are read differently");
  }
  RATCHET_TRY(log->Close());
  return bench.first.Unlink("log");
}

Status RoundTrips(Bench& bench) {
  RATCHET_TRY(MakeFile(bench.first, "asked"));
  RATCHET_ASSIGN(const auto file, bench.first.OpenForRead("asked"));
  if (const auto* const provable = dynamic_cast<const ProvableFile*>(file.get())) {
    for (int i = 0; i < bench.rounds; ++i)
      RATCHET_TRY(bench.watch.Time("round trip", [&] { return provable->RoundTrip(); }));
  }
  return bench.first.Unlink("asked");
}

// One race: data that the writer acknowledged before the fence must be readable for the fencer.
Status FenceRace(Bench& bench, int number) {
  const std::string name = fmt::format("race,1,{}", number);
  RATCHET_ASSIGN(const auto owner, FencedDirectory::Make(bench.first, name));
  RATCHET_ASSIGN(const auto log, owner->directory().Create("log"));
  RATCHET_TRY(owner->directory().Sync());
  std::atomic<std::uint64_t> acknowledged{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> stop{false};
  Status trouble;
  std::thread writer([&] {
    SetThreadName("writer");
    for (std::uint64_t next = 1; !stop; ++next) {
      std::array<char, 8> record{};
      PutFixed(record.data(), next);
      trouble = log->Append({record.data(), record.size()});
      if (trouble.ok()) trouble = log->Sync();
      if (!trouble.ok() || !owner->CheckAfterSync().ok()) break;
      acknowledged = next;
      begun = true;
    }
    begun = true;
  });
  while (!begun) std::this_thread::yield();
  const auto fenced = FencedDirectory::Fence(bench.second, name);
  std::uint64_t read = 0;
  if (fenced.ok()) {
    if (const auto content = (*fenced)->ReadAll("log"); content.ok()) read = content->size() / 8;
  }
  stop = !fenced.ok();
  writer.join();
  if (!fenced.ok()) return fenced.error();
  if (read < acknowledged)
    return Wrong(fmt::format("race {}: {} records were acknowledged, and the fencer read {}", number,
                             acknowledged.load(), read));
  for (const char* file : {"log", kFencedFile}) RATCHET_TRY((*fenced)->Unlink(file));
  RATCHET_TRY(bench.second.RemoveDir(name + kSplittingSuffix));
  return Ok();
}

}  // namespace

StorageFindings TryStorage(Directory& first, Directory& second, const Clock& clock, const TrialOptions& options) {
  Stopwatch watch(clock);
  Bench bench{first, second, watch, options.rounds};
  StorageFindings findings;
  const auto run = [&](const char* name, const std::function<Status()>& trial) {
    const Status done = trial();
    findings.trials.push_back({name, done.ok(), done.ok() ? "" : done.error().message()});
  };
  run("exclusive create", [&] { return ExclusiveCreate(bench); });
  run("new and removed names are seen at once", [&] { return NewNames(bench); });
  run("renamed files are seen at once", [&] { return Renames(bench); });
  run("a handle follows its renamed directory", [&] { return HandlesFollow(bench); });
  if (options.links) run("hard links between directories", [&] { return Links(bench); });
  run("directory sync", [&] { return DirectorySync(bench); });
  run("synced appends are seen at once", [&] { return Appends(bench); });
  run("the storage answers a round trip", [&] { return RoundTrips(bench); });
  if (options.fence_races > 0)
    run("fence races", [&]() -> Status {
      for (int i = 0; i < options.fence_races; ++i) RATCHET_TRY(FenceRace(bench, i));
      return Ok();
    });
  findings.latencies = watch.Latencies();
  return findings;
}

Status TryStorageShortly(Directory& directory, const Clock& clock) {
  TrialOptions options;
  options.rounds = 1;
  options.fence_races = 0;
  options.links = false;
  StorageFindings findings = TryStorage(directory, directory, clock, options);
  const StorageVerdict verdict = Judge(findings);
  if (verdict.fitness != Fitness::kUnfit) return Ok();
  return Error(Code::kFailedPrecondition, directory.path() + " is " + verdict.ToString());
}

}  // namespace ratchet::io
