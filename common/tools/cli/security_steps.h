// The eight steps by which a running cluster is protected (docs/security.md), and what is missing for each. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/model/proto/security.pb.h"

namespace ratchet::cli {

struct SecurityStep {
  std::string name;
  std::vector<std::string> missing;  // one sentence for each process; empty: the step is done
};

// `processes`: the reports of all masters and region servers. `silent`: those that sent none, because they are of an
// earlier version, or do not answer.
[[nodiscard]] std::vector<SecurityStep> SecuritySteps(const std::vector<pb::ProcessSecurity>& processes,
                                                      const std::vector<std::string>& silent);
// Number of the steps from the first one on that are done, without a gap.
[[nodiscard]] std::size_t StepsDone(const std::vector<SecurityStep>& steps);

}  // namespace ratchet::cli
