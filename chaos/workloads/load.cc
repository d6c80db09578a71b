#include "chaos/workloads/load.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/thread_name.h"
#include "common/client/admin.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {

OperationOutcome OutcomeOf(const Error& error) {
  // The client's loop gives a timeout an exception class exactly when an attempt may have been executed.
  if (error.code() == Code::kTimeout && error.remote_class().empty()) return OperationOutcome::kFailed;
  if (rpc::IsClass(error, rpc::kNotSent)) return OperationOutcome::kFailed;
  return OperationOutcome::kUnknown;
}

void Tally::Add(OperationOutcome outcome) {
  MutexLock lock(mutex_);
  if (outcome == OperationOutcome::kFailed) ++counters_.failed;
  if (outcome == OperationOutcome::kUnknown) ++counters_.unknown;
  if (outcome != OperationOutcome::kOk) return;
  ++counters_.ok;
  const TimePoint now = clock_.Now();
  if (counters_.last_ok) {
    const auto gap = std::chrono::duration_cast<Millis>(now - *counters_.last_ok);
    counters_.longest_gap = std::max(counters_.longest_gap, gap);
  }
  counters_.last_ok = now;
}

WorkloadCounters Tally::Snapshot() const {
  MutexLock lock(mutex_);
  return counters_;
}

void LoadThreads::Start(std::string_view name, int threads, std::uint64_t seed, const Body& body) {
  Prng source(seed);
  for (int thread = 0; thread < threads; ++thread) {
    const std::string label = fmt::format("{}-{}", name, thread);
    threads_.emplace_back([this, body, thread, label, prng = source.Fork()]() mutable {
      SetThreadName(label);
      while (!stopping()) body(thread, prng);
    });
  }
}

void LoadThreads::AskToStop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.NotifyAll();
}

void LoadThreads::Stop() {
  AskToStop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool LoadThreads::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void LoadThreads::Pause(Millis time) {
  const auto until = std::chrono::steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (!stopping_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return;
    wake_.WaitFor(mutex_, until - now);
  }
}

std::string PrefixOfRegion(int region, int regions) { return fmt::format("{:04x}", 0x10000 * region / regions); }

std::vector<std::string> EvenPrefixes(int regions, bool hex) {
  std::vector<std::string> keys;
  for (int i = 1; i < regions; ++i) {
    const auto at = static_cast<unsigned>(0x10000 * i / regions);
    keys.push_back(hex ? PrefixOfRegion(i, regions)
                       : std::string{static_cast<char>(at >> 8U), static_cast<char>(at & 0xffU)});
  }
  return keys;
}

Status MakeLoadTable(client::Connection& connection, const TableName& table,
                     const std::vector<std::string>& split_keys) {
  TableDescriptor descriptor;
  descriptor.name = table;
  descriptor.families.push_back(DefaultFamily(kLoadFamily));
  client::Admin admin(connection, kCheckTimeout);
  const Status made = admin.WaitOk(admin.CreateTable(descriptor, split_keys));
  if (!made.ok()) return made.error().Annotate(fmt::format("making table {}", table.ToString()));
  return Ok();
}

std::string Counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace ratchet::chaos
