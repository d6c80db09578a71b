// RatchetService for a host that has only procedures, and the methods of HBase's MasterService that waiting clients
// call. Every answer passes the store's CHECK first, as a master's does, S33 (check before state replies).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/model/server_name.h"
#include "common/rpc/service.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/store.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// Everything that is referred to outlives the RPC server.
struct HostEnv {
  procedure::Executor& executor;  // has recovered
  procedure::ProcedureStore& store;
  const procedure::ProcedureRegistry& registry;
  const Clock& clock;
  std::string name;     // shown where a master shows its cluster
  std::string version;  // shown
  std::string address;  // address at which verbs are answered
  TimePoint began{};
  std::int64_t start_code = 0;
  std::atomic<std::uint16_t> port{0};       // known when the server listens
  std::atomic<std::int64_t> info_port{-1};  // port of the page; -1: none
  [[nodiscard]] ServerName Self() const { return {address, port.load(), static_cast<std::uint64_t>(start_code)}; }
};

// A step that was tried more often than this counts as stuck.
inline constexpr std::uint32_t kStuckAttempts = 3;

[[nodiscard]] std::shared_ptr<rpc::Service> MakeHostService(HostEnv& env);
[[nodiscard]] std::shared_ptr<rpc::Service> MakeResultService(HostEnv& env);
// Collects procedures, workers, deadlocks and pauses. `facts.now_ms` is set.
void CollectProcedureFacts(const procedure::Executor& executor, WhyFacts& facts);
// Collects all facts that `ratchet why` needs about a host.
[[nodiscard]] WhyFacts CollectWhyFacts(const HostEnv& env);

}  // namespace ratchet::host
