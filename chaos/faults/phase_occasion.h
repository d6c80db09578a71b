// Leads a cluster into one phase, and checks whether it is in that phase. Runs on the driver's thread; calls block.
//
// In this order: Prepare, FirstVictim, (the caller kills it), Begin, Reached until it is true, (the second fault),
// CheckUnfinished, Recommission.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "chaos/faults/cluster_client.h"
#include "chaos/report/phases.h"

namespace ratchet::chaos {

class PhaseOccasion {
 public:
  explicit PhaseOccasion(Phase phase) : phase_(phase) {}

  // Creates a table with four regions if the phase is a change of a table. Deletes the tables of earlier occasions.
  [[nodiscard]] Status Prepare(Target& target, Prng& prng);
  // Returns the process whose death begins the phase: a region server for a crash, the active master for an activation.
  // Returns an empty string if a request begins the phase.
  [[nodiscard]] Result<std::string> FirstVictim(Target& target, Prng& prng);
  // Submits the request if one begins the phase.
  [[nodiscard]] Status Begin(Target& target, Prng& prng);
  // Returns an error if the phase is over or can no longer be reached.
  [[nodiscard]] Result<bool> Reached(Target& target);
  // Call after the second fault. Returns an error if the procedure, or the activation, had already ended. A procedure
  // of a killed master counts as unfinished, because the phase is held.
  [[nodiscard]] Status CheckUnfinished(Target& target, bool master_is_gone);
  // Undrains the drained servers, if a master answers.
  void Recommission(Target& target);

  // The master that is being activated; empty while none was seen.
  [[nodiscard]] const std::string& successor() const { return successor_; }
  [[nodiscard]] std::uint64_t pid() const { return pid_; }
  [[nodiscard]] std::string ToText() const { return text_.empty() ? std::string(phase_.type) : text_; }

 private:
  [[nodiscard]] Result<std::uint64_t> Submit(Target& target, Prng& prng);
  [[nodiscard]] Result<bool> ReachedActivation(Target& target);
  [[nodiscard]] Result<pb::ProcedureInfo> FindIt();
  [[nodiscard]] bool IsActivation() const { return phase_.type == kActivationType; }
  [[nodiscard]] bool IsCrash() const { return phase_.type == "ServerCrash"; }
  [[nodiscard]] bool ChangesTable() const { return !IsActivation() && !IsCrash() && phase_.type != "DrainServer"; }

  const Phase phase_;
  std::unique_ptr<ClusterClient> client_;
  TableName table_;
  std::string lost_;                           // server name of the first victim of a crash
  std::map<std::string, std::uint64_t> logs_;  // of masters, and where the part that is watched begins
  std::string successor_;                      // the master whose activation was seen
  std::uint64_t pid_ = 0;
  std::string text_;
  bool drains_ = false;
};

}  // namespace ratchet::chaos
