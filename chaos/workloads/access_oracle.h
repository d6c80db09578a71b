// "access": clients that may not, and that try all the time, in a cluster that ratchet-chaos has secured (--secure).
//
// * A stranger without rights calls every method that needs one, at every process, with random requests, and reads and
//   writes the rows of a table of its own kind. One success is a violation: something has failed open.
// * A visitor gets the right to read, uses it, and loses it. A read that begins after the answer to the revocation must
//   not succeed, on any server.
// * A client whose certificate expires while it works. Afterwards no process may take a new connection of it, unless a
//   process has a wrong clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "chaos/cluster/credentials.h"
#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

struct AccessOracleOptions {
  std::filesystem::path credentials;  // CredentialsDir
  std::filesystem::path audit;        // AuditDir
  std::shared_ptr<CurrentAuthority> authority;
  // How often processes have read a wrong time. From any thread; empty: never.
  std::function<std::uint64_t()> wrong_times{};
};

[[nodiscard]] std::unique_ptr<Workload> MakeAccessOracle(WorkloadContext context, AccessOracleOptions options);

}  // namespace ratchet::chaos
