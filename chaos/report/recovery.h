// How a recovery went, read from what the cluster itself recorded. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/report/run_record.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// From ServerCrash's step history. A step that waits for children is done when the one behind it commits.
[[nodiscard]] Phases PhasesOfCrash(const pb::ProcedureInfo& crash, std::int64_t injected_ms);

// From the log of the master that took over: lines from before the injection are left out.
[[nodiscard]] Phases PhasesOfTakeover(const std::vector<std::string>& log, std::int64_t injected_ms);

// The later of both in each phase: a fault with several victims is over when the last of them is recovered.
[[nodiscard]] Phases Later(const Phases& one, const Phases& other);

// To which fault a crash of the server at this port belongs that was noticed at `at_ms`: the latest earlier one that
// names the server ("rs-2" by its port in `ports`), else the latest earlier one. Nothing when there is none.
[[nodiscard]] std::optional<std::size_t> FaultOfCrash(const std::vector<FaultLine>& faults,
                                                      const std::map<std::string, std::uint16_t>& ports,
                                                      std::uint16_t port, std::int64_t at_ms);

// The port in the text of a crash procedure ("... 127.0.0.1,16020,1700000000000 ..."); 0 when there is none.
[[nodiscard]] std::uint16_t PortInText(const std::string& text);

// The master of `epoch_before` (0: unknown) left it unfinished, and a later one ended it. Of a procedure that was
// submitted before that master was killed and updated after.
[[nodiscard]] bool EndedByASuccessor(const pb::ProcedureInfo& procedure, std::uint64_t epoch_before);

}  // namespace ratchet::chaos
