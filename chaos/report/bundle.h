// The files that a failing run leaves, so that another user can examine it, check it again and repeat it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "chaos/faults/target.h"
#include "chaos/report/run_record.h"
#include "common/base/result.h"

namespace ratchet::chaos {

//   command.txt        seed and command line        report.txt, report.json, report.html
//   histories/NAME/    each workload's evidence     cluster/    logs and stores, as the target collects them
//   timeline.log       the driver's events and all processes' logs in one order
// Writes a bundle. Continues after a failure to save a part, and returns the first error. Replaces existing files.
[[nodiscard]] Status WriteBundle(const std::filesystem::path& folder, const RunRecord& run, Target* target,
                                 const std::vector<std::unique_ptr<Workload>>& workloads);

// Writes the workloads' records of any run, for external checkers (docs/history-format.md):
//   run.txt            verdict, seed and command line        NAME/    each workload's evidence
[[nodiscard]] Status WriteHistories(const std::filesystem::path& folder, const RunRecord& run,
                                    const std::vector<std::unique_ptr<Workload>>& workloads);
// Called before the run: checks that the folder is writable, and marks it as incomplete.
[[nodiscard]] Status BeginHistories(const std::filesystem::path& folder, const RunRecord& run);

// Creates or replaces a file.
[[nodiscard]] Status WriteTextFile(const std::filesystem::path& file, const std::string& text);

}  // namespace ratchet::chaos
