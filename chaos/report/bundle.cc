#include "chaos/report/bundle.h"

#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "chaos/report/merged_log.h"
#include "chaos/report/render.h"
#include "chaos/verdict/guards.h"

namespace ratchet::chaos {
namespace {

// Formats an event like a log line of the processes.
std::string EventLine(const RunEvent& event) {
  const auto seconds = static_cast<std::time_t>(event.at_ms / 1000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03} > {} {}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, event.at_ms % 1000, event.what,
                     event.detail);
}

std::string MergedTimeline(const std::filesystem::path& folder, const RunRecord& run) {
  std::vector<NamedLog> logs = {{"chaos", {}}};
  for (const auto& event : run.events) logs.front().lines.push_back(EventLine(event));
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() != ".log" || !entry->is_regular_file()) continue;
    NamedLog log{entry->path().stem().string(), {}};
    std::ifstream stream(entry->path());
    for (std::string line; std::getline(stream, line);) log.lines.push_back(line);
    logs.push_back(std::move(log));
  }
  std::string text;
  for (const auto& line : MergeLogs(logs)) text += line + "\n";
  return text;
}

Status DescribeRun(const std::filesystem::path& folder, const RunRecord& run, std::string_view verdict) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(Code::kIo, fmt::format("cannot make {}: {}", folder.string(), failed.message()));
  return WriteTextFile(folder / "run.txt", fmt::format("{}\nseed {}\n{}\n", verdict, run.seed, run.command));
}

}  // namespace

Status WriteTextFile(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) return Error(Code::kIo, fmt::format("cannot write {}", file.string()));
  return Ok();
}

Status BeginHistories(const std::filesystem::path& folder, const RunRecord& run) {
  return DescribeRun(folder, run, "UNFINISHED");
}

Status WriteHistories(const std::filesystem::path& folder, const RunRecord& run,
                      const std::vector<std::unique_ptr<Workload>>& workloads) {
  Status first = DescribeRun(folder, run, VerdictName(run.verdict));
  for (const auto& workload : workloads) {
    if (Status kept = workload->WriteEvidence(folder / std::string(workload->name())); !kept.ok() && first.ok())
      first = std::move(kept);
  }
  return first;
}

Status WriteBundle(const std::filesystem::path& folder, const RunRecord& run, Target* target,
                   const std::vector<std::unique_ptr<Workload>>& workloads) {
  std::error_code failed;
  std::filesystem::create_directories(folder / "cluster", failed);
  if (failed) return Error(Code::kIo, fmt::format("cannot make {}: {}", folder.string(), failed.message()));
  Status first = Ok();
  const auto keep_first = [&](Status status) {
    if (first.ok() && !status.ok()) first = std::move(status);
  };
  keep_first(WriteTextFile(folder / "command.txt", fmt::format("seed {}\n{}\n", run.seed, run.command)));
  keep_first(WriteTextFile(folder / "report.txt", RenderText(run)));
  keep_first(WriteTextFile(folder / "report.json", RenderJson(run)));
  keep_first(WriteTextFile(folder / "report.html", RenderHtml(run)));
  keep_first(WriteHistories(folder / "histories", run, workloads));
  if (target != nullptr) {
    keep_first(target->Collect(folder / "cluster"));
    keep_first(WriteTextFile(folder / "timeline.log", MergedTimeline(folder / "cluster", run)));
  }
  return first;
}

}  // namespace ratchet::chaos
