#include "common/tools/cli/printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {

std::string FieldText(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return TerminalText(*text);
  if (const auto* number = std::get_if<std::int64_t>(&field)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&field)) return *flag ? "yes" : "no";
  if (const auto* span = std::get_if<Span>(&field)) return DurationText(span->ms);
  if (const auto* real = std::get_if<double>(&field)) return fmt::format("{:.6g}", *real);
  if (const auto* list = std::get_if<std::vector<std::string>>(&field)) {
    return list->empty() ? "none" : TerminalText(fmt::format("{}", fmt::join(*list, " ")));
  }
  return "-";
}

std::size_t TextWidth(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

namespace {

std::string JsonName(std::string name) {
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void WriteText(Writer& writer, const std::string& text) {
  const std::string valid = Utf8Text(text);
  writer.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

void Write(Writer& writer, const std::string& name, const Field& field) {
  const auto* span = std::get_if<Span>(&field);
  writer.Key((JsonName(name) + (span != nullptr ? "_ms" : "")).c_str());
  if (span != nullptr) {
    writer.Int64(span->ms);
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&field)) {
    writer.StartArray();
    for (const auto& member : *list) WriteText(writer, member);
    writer.EndArray();
  } else if (const auto* text = std::get_if<std::string>(&field)) {
    WriteText(writer, *text);
  } else if (const auto* number = std::get_if<std::int64_t>(&field)) {
    writer.Int64(*number);
  } else if (const auto* flag = std::get_if<bool>(&field)) {
    writer.Bool(*flag);
  } else if (const auto* real = std::get_if<double>(&field)) {
    writer.Double(*real);
  } else {
    writer.Null();
  }
}

void WriteRow(Writer& writer, const std::vector<std::string>& headers, const std::vector<Field>& row) {
  writer.StartObject();
  for (std::size_t i = 0; i < row.size(); ++i) Write(writer, headers[i], row[i]);
  writer.EndObject();
}

void WriteRows(Writer& writer, const std::vector<std::string>& headers, const std::vector<std::vector<Field>>& rows) {
  writer.StartArray();
  for (const auto& row : rows) WriteRow(writer, headers, row);
  writer.EndArray();
}

constexpr const char* kPlain = "\x1b[0m";
constexpr const char* kBold = "\x1b[1m";

// The colour of a state's name; null: none. The name shows the same state, so no information is lost without colours.
const char* ColourOf(std::string_view text) {
  struct Rule {
    std::string_view begin;
    const char* colour;
  };
  static constexpr std::array<Rule, 18> kRules = {{{"FAILED", "\x1b[31m"},
                                                   {"ROLLEDBACK", "\x1b[31m"},
                                                   {"CRASHED", "\x1b[31m"},
                                                   {"ABNORMALLY", "\x1b[31m"},
                                                   {"OFFLINE", "\x1b[31m"},
                                                   {"SPLITTING", "\x1b[33m"},
                                                   {"WAITING", "\x1b[33m"},
                                                   {"OPENING", "\x1b[33m"},
                                                   {"CLOSING", "\x1b[33m"},
                                                   {"ENABLING", "\x1b[33m"},
                                                   {"DISABLING", "\x1b[33m"},
                                                   {"CLOSED", "\x1b[2m"},
                                                   {"DISABLED", "\x1b[2m"},
                                                   {"OPEN", "\x1b[32m"},
                                                   {"ONLINE", "\x1b[32m"},
                                                   {"ENABLED", "\x1b[32m"},
                                                   {"SUCCESS", "\x1b[32m"},
                                                   {"DEAD", "\x1b[31m"}}};
  for (const Rule& rule : kRules) {
    if (text.starts_with(rule.begin)) return rule.colour;
  }
  return nullptr;
}

}  // namespace

std::string TableLine(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, const Look& look,
                      bool header) {
  std::string line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = cells[i];
    if (look.width > 0) {
      if (used >= look.width) break;
      cell = Shortened(cell, look.width - used);
    }
    const char* colour = !look.colour ? nullptr : header ? kBold : ColourOf(cell);
    line += colour != nullptr ? colour + cell + kPlain : cell;
    used += TextWidth(cell);
    if (i + 1 == cells.size()) break;
    const std::size_t gap = (widths[i] > TextWidth(cell) ? widths[i] - TextWidth(cell) : 0) + 2;
    line.append(gap, ' ');
    used += gap;
  }
  return line;
}

std::string JsonText(const std::vector<std::string>& headers, const std::vector<Field>& row) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  WriteRow(writer, headers, row);
  return buffer.GetString();
}

void Printer::Put(const std::string& line) const {
  if (into_ != nullptr) {
    into_->text += line;
  } else {
    std::fprintf(stdout, "%s\n", line.c_str());
  }
}

void Printer::Table(const std::vector<std::string>& headers, const std::vector<std::vector<Field>>& rows,
                    bool with_header, bool cut) const {
  if (json_) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    if (into_ == nullptr) {
      WriteRows(writer, headers, rows);
    } else {
      into_->total = rows.size();
      const std::uint64_t first = std::min<std::uint64_t>(into_->offset, rows.size());
      const std::uint64_t end = first + std::min<std::uint64_t>(into_->limit, rows.size() - first);
      writer.StartArray();
      for (std::uint64_t i = first; i < end; ++i) WriteRow(writer, headers, rows[i]);
      writer.EndArray();
    }
    Put(buffer.GetString());
    return;
  }
  std::vector<std::size_t> widths;
  for (const auto& header : headers) widths.push_back(TextWidth(header));
  std::vector<std::vector<std::string>> texts;
  for (const auto& row : rows) {
    auto& line = texts.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(FieldText(row[i]));
      widths[i] = std::max(widths[i], TextWidth(line.back()));
    }
  }
  const Look look{look_.colour, cut ? look_.width : 0};
  if (with_header) Put(TableLine(headers, widths, look, true));
  for (const auto& line : texts) Put(TableLine(line, widths, look, false));
}

void Printer::Object(const std::vector<std::pair<std::string, Field>>& fields) const {
  if (json_) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    writer.StartObject();
    for (const auto& [name, field] : fields) Write(writer, name, field);
    writer.EndObject();
    Put(buffer.GetString());
    return;
  }
  std::size_t width = 0;
  for (const auto& [name, field] : fields) width = std::max(width, name.size());
  for (const auto& [name, field] : fields) Put(fmt::format("{:<{}}  {}", name + ":", width + 1, FieldText(field)));
}

void Printer::Document(const std::vector<std::pair<std::string, Field>>& fields,
                       const std::vector<Section>& sections) const {
  if (json_) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    writer.StartObject();
    for (const auto& [name, field] : fields) Write(writer, name, field);
    for (const auto& section : sections) {
      writer.Key(JsonName(section.name).c_str());
      WriteRows(writer, section.headers, section.rows);
    }
    writer.EndObject();
    Put(buffer.GetString());
    return;
  }
  if (!fields.empty()) Object(fields);
  for (const auto& section : sections) {
    if (!section.title.empty()) Put("\n" + section.title);
    Table(section.headers, section.rows);
  }
}

std::string Shortened(const std::string& text, std::size_t columns) {
  if (columns == 0 || TextWidth(text) <= columns) return text;
  std::size_t kept = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) continue;
    if (kept + 1 == columns) break;
    ++kept;
  }
  return text.substr(0, end) + "\xE2\x80\xA6";
}

Look Look::OfStandardOutput() {
  Look look;
  if (isatty(STDOUT_FILENO) == 0) return look;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  look.colour =
      (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) look.width = size.ws_col;
  return look;
}

void Printer::Note(const std::string& line) const {
  if (json_) return;
  // Empty lines before and after are ours; an empty line within would make a text of others look like our output.
  const std::size_t first = std::min(line.find_first_not_of('\n'), line.size());
  const std::size_t end = line.find_last_not_of('\n') + 1;
  if (first >= end) return Put(line);
  Put(line.substr(0, first) + TerminalText(line.substr(first, end - first)) + line.substr(end));
}

std::string DurationText(std::int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
  return fmt::format("{} min {} s", ms / 60'000, ms / 1000 % 60);
}

std::string TimeText(std::int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, wall_ms % 1000);
}

namespace {

constexpr std::size_t kSample = 50;         // number of rows that set the widths
constexpr std::size_t kPiece = 64U << 10U;  // bytes written at once

}  // namespace

void RowStream::Begin() {
  if (begun_) return;
  begun_ = true;
  if (printer_.json()) {
    text_ += "[";
  } else {
    for (const auto& header : headers_) widths_.push_back(TextWidth(header));
    for (const auto& row : first_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], TextWidth(FieldText(row[i])));
    }
    text_ += TableLine(headers_, widths_, {printer_.look().colour, 0}, true) + "\n";
  }
  for (const auto& row : first_) Append(row);
  first_.clear();
}

void RowStream::Append(const std::vector<Field>& row) {
  if (Printed* into = printer_.into(); into != nullptr) {
    const std::uint64_t at = count_++;
    into->total = count_;
    if (at < into->offset || at - into->offset >= into->limit) return;
  }
  if (printer_.json()) {
    text_ += (any_ ? "," : "") + JsonText(headers_, row);
  } else {
    std::vector<std::string> cells;
    for (const Field& field : row) cells.push_back(FieldText(field));
    text_ += TableLine(cells, widths_, {printer_.look().colour, 0}, false) + "\n";
  }
  any_ = true;
}

bool RowStream::Add(std::vector<std::vector<Field>> rows) {
  for (auto& row : rows) {
    if (begun_) {
      Append(row);
    } else {
      first_.push_back(std::move(row));
      if (first_.size() >= kSample) Begin();
    }
  }
  return text_.size() < kPiece || Flush();
}

bool RowStream::Flush() {
  if (!first_.empty()) Begin();
  if (text_.empty()) return true;
  if (printer_.into() != nullptr) {
    printer_.into()->text += std::exchange(text_, std::string());
    return true;
  }
  const bool written = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size() && std::fflush(stdout) == 0;
  text_.clear();
  return written;
}

void RowStream::End(bool failed) {
  if (failed && !begun_ && first_.empty()) return;
  Begin();
  if (printer_.into() != nullptr) printer_.into()->total = count_;
  if (printer_.json()) text_ += printer_.into() == nullptr ? "]\n" : "]";
  Flush();
}

}  // namespace ratchet::cli
