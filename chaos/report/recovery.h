// The course of a recovery, from the cluster's own records. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/report/run_record.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// Reads ServerCrash's step history. A step that waits for children is done when the following step commits.
[[nodiscard]] Phases PhasesOfCrash(const pb::ProcedureInfo& crash, std::int64_t injected_ms);

// Reads the log of the master that took over: ignores lines from before the injection.
[[nodiscard]] Phases PhasesOfTakeover(const std::vector<std::string>& log, std::int64_t injected_ms);

// Returns the later time of each phase: a fault with several victims is over when the last of them has recovered.
[[nodiscard]] Phases Later(const Phases& one, const Phases& other);

// Returns the fault to which a crash of the server at this port, noticed at `at_ms`, belongs: the latest earlier one
// that names the server ("rs-2" by its port in `ports`), otherwise the latest earlier one. Returns nullopt when there
// is none.
[[nodiscard]] std::optional<std::size_t> FaultOfCrash(const std::vector<FaultLine>& faults,
                                                      const std::map<std::string, std::uint16_t>& ports,
                                                      std::uint16_t port, std::int64_t at_ms);

// Returns the port in the text of a crash procedure ("... 127.0.0.1,16020,1700000000000 ..."); 0 when there is none.
[[nodiscard]] std::uint16_t PortInText(const std::string& text);

// True if the master of `epoch_before` (0: unknown) left the procedure unfinished, and a later master ended it. For a
// procedure that was submitted before that master was killed and updated after.
[[nodiscard]] bool EndedByASuccessor(const pb::ProcedureInfo& procedure, std::uint64_t epoch_before);

}  // namespace ratchet::chaos
