// What a failing run leaves behind, so that another user can look at it, check it again and run it again.
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
// Goes on after a failure to save a part; the first one is returned. Replaces what is there.
[[nodiscard]] Status WriteBundle(const std::filesystem::path& folder, const RunRecord& run, Target* target,
                                 const std::vector<std::unique_ptr<Workload>>& workloads);

// What the workloads recorded, of any run, for checkers from outside (docs/history-format.md):
//   run.txt            verdict, seed and command line        NAME/    each workload's evidence
[[nodiscard]] Status WriteHistories(const std::filesystem::path& folder, const RunRecord& run,
                                    const std::vector<std::unique_ptr<Workload>>& workloads);
// Before the run: the folder can be written to, and says that nothing is complete yet.
[[nodiscard]] Status BeginHistories(const std::filesystem::path& folder, const RunRecord& run);

// Creates or replaces a file.
[[nodiscard]] Status WriteTextFile(const std::filesystem::path& file, const std::string& text);

}  // namespace ratchet::chaos
