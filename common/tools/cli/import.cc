// `ratchet import`: fields of a separated text file become cells, in batches, with a progress bar.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "common/client/table.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/progress_text.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

struct ImportFlags {
  std::string table;
  std::string file;  // "-": standard input
  std::vector<std::string>
      columns;  // "family:qualifier" of each field; "row" for the row key, "-" to leave a field out
  std::string separator = "\t";
  std::uint64_t batch_rows = 500;
  bool quiet = false;  // no progress bar

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    Need(verb, "file", file, kind::kFile, "A file, a pipe, or - for standard input");
    Need(verb, "--columns", columns, kind::kColumn,
         "Meaning of each field: row, family:qualifier, or - to leave it out")
        ->delimiter(',');
    Take(verb, "--separator", separator, kind::kText, "Between fields (default: a tab)");
    TakeWhole(verb, "--batch", batch_rows, kind::kNumber, 1, 100'000, "Rows sent together");
    verb.add_flag("--quiet", quiet, "No progress bar");
  }
};

struct Target {
  bool row_key = false;
  bool skip = false;
  std::string family;
  std::string qualifier;
};

Result<std::vector<Target>> ParseTargets(const std::vector<std::string>& columns) {
  std::vector<Target> targets;
  int row_keys = 0;
  for (const auto& text : columns) {
    Target target;
    const auto colon = text.find(':');
    if (text == "row") {
      target.row_key = true;
      ++row_keys;
    } else if (text == "-") {
      target.skip = true;
    } else if (colon != std::string::npos && colon > 0) {
      target.family = text.substr(0, colon);
      target.qualifier = text.substr(colon + 1);
    } else {
      return Error(Code::kInvalidArgument, fmt::format("column '{}': expected row, - or family:qualifier", text));
    }
    targets.push_back(std::move(target));
  }
  if (row_keys != 1) return Error(Code::kInvalidArgument, "exactly one of the columns must be 'row'");
  return targets;
}

Result<client::Mutation> ParseLine(std::string_view line, std::int64_t number, const std::string& separator,
                                   const std::vector<Target>& targets) {
  std::string row;
  std::vector<std::pair<const Target*, std::string>> values;
  std::size_t field = 0;
  for (bool more = true; more; ++field) {
    const auto end = line.find(separator);
    const std::string_view text = line.substr(0, end);
    more = end != std::string_view::npos;
    if (more) line.remove_prefix(end + separator.size());
    if (field >= targets.size()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("line {}: more than the {} fields that --columns names", number, targets.size()));
    }
    const Target& target = targets[field];
    if (target.row_key)
      row = std::string(text);
    else if (!target.skip && !text.empty())
      values.emplace_back(&target, std::string(text));
  }
  if (row.empty())
    return Error(Code::kInvalidArgument, fmt::format("line {}: the row key is empty or missing", number));
  if (values.empty())
    return Error(Code::kInvalidArgument, fmt::format("line {}: no field to store in addition to the row key", number));
  auto put = client::Mutation::Put(std::move(row));
  for (auto& [target, value] : values) put.Set(target->family, target->qualifier, std::move(value));
  return put;
}

class ProgressBar {
 public:
  ProgressBar(bool shown, std::int64_t bytes_total) : shown_(shown), bytes_total_(bytes_total), start_(clock_.Now()) {}

  void Update(std::int64_t rows, std::int64_t bytes, bool last) {
    if (!shown_) return;
    const auto now = clock_.Now();
    if (!last && now - drawn_ < Millis{100}) return;
    drawn_ = now;
    constexpr int kWidth = 30;
    const int filled = bytes_total_ > 0 ? static_cast<int>(kWidth * bytes / bytes_total_) : 0;
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(kWidth - filled), '.');
    const std::string left = LeftText(bytes_total_ - bytes, bytes, ElapsedMs());
    std::fprintf(stderr, "\r\033[K[%s] %lld rows, %lld rows/s%s%s", bar.c_str(), static_cast<long long>(rows),
                 static_cast<long long>(Rate(rows)), left.empty() ? "" : (", " + left).c_str(), last ? "\n" : "");
    std::fflush(stderr);
  }
  [[nodiscard]] std::int64_t ElapsedMs() const {
    return std::chrono::duration_cast<Millis>(clock_.Now() - start_).count();
  }
  [[nodiscard]] std::int64_t Rate(std::int64_t rows) const {
    return rows * 1000 / std::max<std::int64_t>(1, ElapsedMs());
  }

 private:
  const SystemClock clock_;
  const bool shown_;
  const std::int64_t bytes_total_;
  const TimePoint start_;
  TimePoint drawn_{};
};

// Every row that could be stored is stored. The error describes the first one that could not, and how many others
// failed.
Status Send(client::Table& table, std::vector<client::Mutation>& batch, std::int64_t& rows) {
  const auto statuses = table.MutateMany(batch);
  std::optional<Error> first;
  std::int64_t failed = 0;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    if (statuses[i].ok()) continue;
    if (++failed == 1) first = statuses[i].error().Annotate(fmt::format("row '{}'", ToText(batch[i].row)));
  }
  rows += static_cast<std::int64_t>(batch.size()) - failed;
  batch.clear();
  if (!first) return Ok();
  return first->Annotate(fmt::format("{} rows of a batch of {} failed", failed, statuses.size()));
}

Status Import(client::Table& table, const ImportFlags& flags, const std::vector<Target>& targets, std::istream& input,
              ProgressBar& progress, std::int64_t& rows) {
  std::vector<client::Mutation> batch;
  std::int64_t bytes = 0;
  std::int64_t number = 0;
  std::string line;
  while (std::getline(input, line)) {
    bytes += static_cast<std::int64_t>(line.size()) + 1;
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    RATCHET_ASSIGN(auto put, ParseLine(line, number, flags.separator, targets));
    batch.push_back(std::move(put));
    if (batch.size() < flags.batch_rows) continue;
    RATCHET_TRY(Send(table, batch, rows));
    progress.Update(rows, bytes, false);
  }
  RATCHET_TRY(Send(table, batch, rows));
  // A directory, or a disk that fails: such an end is not the end of the file.
  if (input.bad()) return Error(Code::kIo, fmt::format("the input cannot be read after line {}", number));
  progress.Update(rows, bytes, true);
  return Ok();
}

Result<int> ImportRows(Session& session, const ImportFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(auto targets, ParseTargets(flags.columns));
  std::ifstream file;
  std::int64_t size = 0;
  if (flags.file != "-") {
    file.open(flags.file, std::ios::binary);
    if (!file) return Error(Code::kInvalidArgument, fmt::format("cannot read the file '{}'", flags.file));
    std::error_code unsized;  // a pipe or a terminal has no size; it is read anyway
    if (std::filesystem::is_regular_file(flags.file, unsized)) {
      size = static_cast<std::int64_t>(std::filesystem::file_size(flags.file, unsized));
    }
  }
  client::Table table(session.connection, name);
  ProgressBar progress(!flags.quiet && !session.quiet && isatty(STDERR_FILENO) != 0, size);
  std::int64_t rows = 0;
  const Status status = Import(table, flags, targets, flags.file == "-" ? std::cin : file, progress, rows);
  if (!status.ok()) {
    const auto so_far = fmt::format("{} rows are stored; the import stopped (a new run stores them again)", rows);
    return ReportOnTable(session, status.error().Annotate(so_far), name);
  }
  session.printer.Object({{"rows", rows}, {"ms", progress.ElapsedMs()}, {"rows per second", progress.Rate(rows)}});
  return kExitOk;
}

}  // namespace

Verbs ImportVerbs() {
  return {Verb<ImportFlags>(
      "import", "Store the lines of a separated text file as rows",
      {"import t data.tsv --columns row,f:name,f:kind", "import t - --columns row,f:v --separator , < data.csv"},
      ImportRows)};
}

}  // namespace ratchet::cli
