// The facts about procedures from which "why does it wait?" is answered: a snapshot of values, taken part by part, each
// under its own lock for a moment. The snapshot has no reference to a running part, so a worker or a disk that hangs
// does not block the answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/api/views.h"

namespace ratchet::host {

struct WhyPause {
  std::string text;    // "everything paused by op: upgrade"
  std::string resume;  // the argument of `ratchet resume`
  std::int64_t age_ms = 0;
};

// The last failure of a procedure that then began again.
struct WhySetback {
  std::string error;
  bool repeated = false;  // it has failed several times, so the wait counts from the submission
};

// All ages are in ms.
struct WhyFacts {
  std::string self;
  std::string process = "host";  // how chains name this process: "host", "master"
  std::int64_t now_ms = 0;       // wall clock, like the procedures' times
  std::optional<std::int64_t> own_storage_hangs_ms;
  std::optional<std::string> store_full;  // why the procedure store accepts nothing new; nullopt: it accepts
  procedure::WorkersInfo workers;
  std::map<ProcId, procedure::ProcedureInfo> procedures;  // unfinished
  std::map<ProcId, WhySetback> setbacks;
  std::vector<WhyPause> pauses;
  std::vector<std::vector<ProcId>> cycles;
};

}  // namespace ratchet::host
