#include "chaos/demo/writer.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/base/thread_name.h"

namespace ratchet::chaos {

Writer::Writer(client::Connection& connection, TableName table, int threads, std::uint64_t seed)
    : connection_(connection), name_(fmt::format("w{:x}", seed)), table_(std::move(table)), last_ack_(clock_.Now()) {
  Prng prng(seed);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this, i, s = prng.Next()] { Run(i, s); });
}

Writer::~Writer() { Stop(); }

void Writer::Stop() {
  stopping_ = true;
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::size_t Writer::acknowledged() const {
  MutexLock lock(mutex_);
  return account_.acknowledged.size();
}

Writer::Account Writer::CollectAccount() {
  MutexLock lock(mutex_);
  return std::move(account_);
}

void Writer::Run(int thread, std::uint64_t seed) {
  SetThreadName(fmt::format("writer-{}", thread));
  Prng prng(seed);
  client::Table table(connection_, table_);
  for (std::uint64_t number = 0; !stopping_; ++number) {
    const std::string row = fmt::format("{:06X}~{}-{}-{}", prng.Below(0x20000), name_, thread, number);
    const std::string value = fmt::format("{:016x}", prng.Next());
    const auto done = table.Mutate(client::Mutation::Put(row).Set("u", "written", value));
    MutexLock lock(mutex_);
    if (!done.ok()) {
      RATCHET_LOG(kWarn, "write of {}: {}", row, done.error().ToString());
      account_.unknown.insert(row);
      continue;
    }
    account_.acknowledged.emplace(row, value);
    const TimePoint now = clock_.Now();
    account_.longest_gap = std::max(account_.longest_gap, std::chrono::duration_cast<Millis>(now - last_ack_));
    last_ack_ = now;
  }
}

}  // namespace ratchet::chaos
