// Looks host names up on its own threads, so that no thread that must answer waits for DNS.
//
// One look-up of a name runs at a time; other callers for the same name get its answer. While DNS fails or is slow, the
// last known addresses of a name are used, and the look-up is repeated in the background: a peer that has kept its
// address stays reachable. Names that are addresses need no look-up.
//
// Thread-safe. A system look-up cannot be interrupted, so its thread is detached and may outlive this object.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet {

class NameResolver {
 public:
  using Addresses = std::vector<std::string>;  // numeric, in the system's order, each once
  using Lookup = std::function<Result<Addresses>(const std::string& host)>;  // may block
  using Done = std::function<void(const Result<Addresses>&)>;
  static constexpr std::size_t kMostThreads = 8;
  static constexpr std::size_t kMostNames = 10'000;  // maximum number of names whose addresses are remembered
  static constexpr Millis kSlow{1'000};              // after a slower look-up, no caller waits for the next one

  // `lookup`: empty: the system's default.
  explicit NameResolver(Lookup lookup = {});
  ~NameResolver();
  NameResolver(const NameResolver&) = delete;
  NameResolver& operator=(const NameResolver&) = delete;

  // The resolver that the process's clients share. It is never destroyed.
  static NameResolver& OfProcess();

  // Calls `done` once: at once on this thread for a numeric host and while the last known addresses are used, else on a
  // thread of the resolver. kUnavailable: there is no address now.
  void Resolve(const std::string& host, Done done);
  // Resolve for a caller that may wait. kTimeout: no answer within `patience`; the look-up continues.
  [[nodiscard]] Result<Addresses> ResolveWithin(const std::string& host, Millis patience);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Asks the system, on this thread. kUnavailable names the host and the reason. On success there is at least one
// address.
[[nodiscard]] Result<NameResolver::Addresses> LookUpName(const std::string& host);

}  // namespace ratchet
