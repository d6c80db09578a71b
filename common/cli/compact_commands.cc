// Compacting a table, with progress.
#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "common/cli/commands.h"
#include "common/cli/progress_text.h"
#include "common/client/compactions.h"

namespace ratchet::cli {
namespace {

// One that a server passes over so often in a row is not waited for.
constexpr int kMostPassedOver = 5;

// One line on a terminal, drawn again and again.
class CompactionLine {
 public:
  explicit CompactionLine(const Session& session)
      : shown_(!session.quiet && session.printer.into() == nullptr && isatty(STDERR_FILENO) != 0),
        start_(clock_.Now()) {}
  ~CompactionLine() {
    if (drawn_) std::fputs("\n", stderr);
  }
  void Draw(const client::TableCompaction::Progress& progress) {
    if (!shown_) return;
    drawn_ = true;
    const auto elapsed = std::chrono::duration_cast<Millis>(clock_.Now() - start_);
    const Progress of_regions{static_cast<std::int64_t>(progress.done), static_cast<std::int64_t>(progress.total)};
    std::fprintf(stderr, "\r\033[Kregions: %s", ProgressText(of_regions, 0, elapsed.count()).c_str());
    std::fflush(stderr);
  }

 private:
  const bool shown_;
  const SystemClock clock_;
  const TimePoint start_;
  bool drawn_ = false;
};

Error NotWhole(const TableName& table, const client::TableCompaction::Progress& progress, const char* why) {
  std::string text =
      fmt::format("table {}: {} of {} regions are compacted: {}", table.ToString(), progress.done, progress.total, why);
  if (!progress.passed_over.empty())
    text += fmt::format("; region {}: are compactions switched off there?", progress.passed_over.front());
  if (!progress.last_error.empty()) text += "; " + progress.last_error;
  return Error(Code::kUnavailable, text);
}

}  // namespace

int CompactTable(Session& session, const std::string& text, bool major, bool wait) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  if (const Status there = RequireTable(session, *name); !there.ok()) return Report(session, there.error());
  client::TableCompaction compaction(session.connection, *name, major, session.timeout);
  client::RetryLoop loop = session.connection.NewLoop(session.timeout);
  CompactionLine line(session);
  for (int passed_over = 0;;) {
    const auto progress = compaction.Look();
    if (!progress.ok()) return ReportOnTable(session, progress.error(), *name);
    line.Draw(*progress);
    const bool done = progress->done == progress->total;
    if (done || (!wait && progress->last_error.empty())) {
      session.printer.Object({{"table", name->ToString()},
                              {"compacted", static_cast<std::int64_t>(progress->done)},
                              {"regions", static_cast<std::int64_t>(progress->total)}});
      return kExitOk;
    }
    passed_over = progress->passed_over.empty() ? passed_over : passed_over + 1;
    if (passed_over > kMostPassedOver) return Report(session, NotWhole(*name, *progress, "a server passes some over"));
    if (const Status more = loop.Poll("a compaction"); !more.ok())
      return Report(session, NotWhole(*name, *progress, "they go on (--timeout-ms)"));
  }
}

}  // namespace ratchet::cli
