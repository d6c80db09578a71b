// The identity of a process of the cluster towards the other processes: its name, its role, the cluster's keys, S123
// (only a proof makes a member). One object for the process's RPC server and its client connections.
//
// Thread-safe. The name is set when it is final; until then no proof is made or answered.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/proof_policy.h"

namespace ratchet::rpc {

class MemberIdentity {
 public:
  // `keys`: one or two; the first one makes proofs. Empty keys count as missing.
  MemberIdentity(MemberRole role, const std::vector<std::string>& keys, Live<ProofPolicy> policy = ProofPolicy::kByKey);

  [[nodiscard]] MemberRole role() const { return role_; }
  void SetName(const ServerName& name);
  [[nodiscard]] ServerName name() const;  // empty: not known yet
  // Connections whose key is no longer among the keys are no longer those of members.
  void SetKeys(const std::vector<std::string>& keys);
  [[nodiscard]] MemberKeys keys() const;
  // The keys as they are in cluster.key.
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] bool Holds(std::string_view key_id) const;
  // True once after a proof has failed, here or at the other end: the keys may have changed.
  [[nodiscard]] bool TakeDoubt() const { return doubt_.exchange(false); }

  // The client's side of a connection to `wanted`; nullopt while there is no name. `binding`: of the TLS connection;
  // empty without TLS.
  [[nodiscard]] std::optional<MemberClientProof> BeginClient(HostPort wanted, std::string binding = {}) const;
  [[nodiscard]] MemberServerProof BeginServer(std::string binding = {}) const;
  // The key to show to a server that knows no proof; empty: none is shown.
  [[nodiscard]] std::string KeyInClear() const;
  [[nodiscard]] bool TakesInClear(std::string_view shown) const;

  // ---- connections of this process's RPC server, by CallContext::connection ----
  void Joined(std::uint64_t connection, const ServerName& peer) const;
  void Left(std::uint64_t connection) const;
  // nullopt: not a connection on which a member has proven itself.
  [[nodiscard]] std::optional<ServerName> PeerOn(std::uint64_t connection) const;

  // ---- problems with other processes, for the log and `ratchet status` ----
  // `address`: of the server that has not proven itself.
  void NotProven(const std::string& address, const std::string& why) const;
  // The handshake with this server has failed, for example because its certificate is refused.
  void NotEncrypted(const std::string& address, const std::string& why) const;
  void ShownInClear(const std::string& address) const;
  void Proven(const std::string& address) const;
  // A client has asked to be a member and is none. At most one line a second is logged.
  void Refused(const std::string& client, const std::string& why) const;
  // Sorted by address. A problem ends when the server proves itself, or when it has not occurred for kKeepProblem.
  [[nodiscard]] std::vector<std::string> Problems() const;

  static constexpr Millis kKeepProblem{60'000};
  static constexpr std::size_t kMostProblems = 20;

 private:
  struct Key {
    std::string text;
    MemberKey key;
  };
  struct Problem {
    std::string text;
    TimePoint last{};
  };
  [[nodiscard]] bool ShowsInClear(const std::string& key) const REQUIRES(mutex_);
  void Note(const std::string& address, std::string text) const;

  const MemberRole role_;
  const Live<ProofPolicy> policy_;
  const SystemClock clock_;
  mutable std::atomic<bool> doubt_{false};
  mutable Mutex mutex_;
  ServerName name_ GUARDED_BY(mutex_);
  std::vector<Key> keys_ GUARDED_BY(mutex_);
  mutable std::map<std::uint64_t, ServerName> peers_ GUARDED_BY(mutex_);
  mutable std::map<std::string, Problem> problems_ GUARDED_BY(mutex_);
  mutable std::uint64_t refused_ GUARDED_BY(mutex_) = 0;  // since the last log line
  mutable TimePoint next_line_ GUARDED_BY(mutex_){};
};

}  // namespace ratchet::rpc
