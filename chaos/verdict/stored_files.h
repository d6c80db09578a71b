// Reads every file of a stopped cluster from beginning to end: the procedure store, the logs of region servers, the
// manifests of regions and all store files that they name. Checks the checksums, and whether the files agree with each
// other.
//
// Reads only, and needs no process of the cluster. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "chaos/workloads/workload.h"

namespace ratchet::chaos {

struct StoredFiles {
  std::uint64_t procedures = 0;  // that live in the procedure store
  std::uint64_t logs = 0;
  std::uint64_t log_records = 0;
  std::uint64_t manifests = 0;
  std::uint64_t store_files = 0;
  std::uint64_t cells = 0;
  std::vector<std::string> wrong;  // each names a file
};

// `root`: the cluster's --root. StoredFiles::wrong names the files that cannot be read.
[[nodiscard]] StoredFiles ReadStoredFiles(const std::filesystem::path& root);

// Fails if no manifest or no log was read.
[[nodiscard]] Finding JudgeStoredFiles(const StoredFiles& files);

}  // namespace ratchet::chaos
