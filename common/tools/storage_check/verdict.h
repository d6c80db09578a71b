// The findings of the trials of a storage, and whether it is fit for a cluster's root. Pure: no file is touched here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ratchet::io {

// The duration of one operation, in microseconds.
struct OperationTime {
  std::string operation;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
};

struct Trial {
  std::string name;
  bool passed = false;
  std::string why;  // for a trial that has not passed
};

struct StorageFindings {
  std::string kind;           // "ext4", "cephfs (fuse)" ...; of the first mount
  bool refused_kind = false;  // a kind whose caches expire by time
  bool names_cached = false;  // its clients cache names (S101: cached names need a proof)
  bool two_mounts = false;
  bool by_machines = false;  // a kind that several machines can share
  std::vector<Trial> trials;
  std::vector<OperationTime> latencies;
};

enum class Fitness : std::uint8_t { kFit, kFitWithProof, kUnfit };

struct StorageVerdict {
  Fitness fitness = Fitness::kUnfit;
  std::vector<std::string> reasons;  // for kUnfit; never empty then
  std::vector<std::string> remarks;

  // "fit", "fit with proof", "unfit because ...; ...".
  [[nodiscard]] std::string ToString() const;
};

[[nodiscard]] StorageVerdict Judge(const StorageFindings& findings);

}  // namespace ratchet::io
