#include "common/tools/storage_check/verdict.h"

#include <fmt/format.h>

namespace ratchet::io {

std::string StorageVerdict::ToString() const {
  switch (fitness) {
    case Fitness::kFit: return "fit";
    case Fitness::kFitWithProof: return "fit with proof";
    case Fitness::kUnfit: break;
  }
  return fmt::format("unfit because {}", fmt::join(reasons, "; "));
}

StorageVerdict Judge(const StorageFindings& findings) {
  StorageVerdict verdict;
  if (findings.refused_kind)
    verdict.reasons.push_back(findings.kind + " answers from caches for a time, whatever other machines change");
  for (const Trial& trial : findings.trials) {
    if (!trial.passed) verdict.reasons.push_back(trial.name + ": " + trial.why);
  }
  if (findings.trials.empty()) verdict.reasons.emplace_back("nothing was tried");
  if (findings.by_machines && !findings.two_mounts)
    verdict.remarks.emplace_back("seen through one mount only: name a second mount of the same directory");
  if (!verdict.reasons.empty()) return verdict;
  verdict.fitness = findings.names_cached ? Fitness::kFitWithProof : Fitness::kFit;
  if (findings.names_cached)
    verdict.remarks.emplace_back(
        "its clients cache names: checks that follow no sync make a round trip (--storage-proof)");
  return verdict;
}

}  // namespace ratchet::io
