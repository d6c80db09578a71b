#include "common/cli/printer.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace ratchet::cli {
namespace {

std::string TextOf(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&field)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&field)) return *flag ? "yes" : "no";
  if (const auto* span = std::get_if<Span>(&field)) return DurationText(span->ms);
  if (const auto* list = std::get_if<std::vector<std::string>>(&field)) {
    return list->empty() ? "none" : fmt::format("{}", fmt::join(*list, " "));
  }
  return "-";
}

// Columns that a terminal needs for UTF-8 text, one a code point.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string JsonName(std::string name) {
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Write(Writer& writer, const std::string& name, const Field& field) {
  const auto* span = std::get_if<Span>(&field);
  writer.Key((JsonName(name) + (span != nullptr ? "_ms" : "")).c_str());
  if (span != nullptr) {
    writer.Int64(span->ms);
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&field)) {
    writer.StartArray();
    for (const auto& member : *list) writer.String(member.data(), static_cast<rapidjson::SizeType>(member.size()));
    writer.EndArray();
  } else if (const auto* text = std::get_if<std::string>(&field)) {
    writer.String(text->data(), static_cast<rapidjson::SizeType>(text->size()));
  } else if (const auto* number = std::get_if<std::int64_t>(&field)) {
    writer.Int64(*number);
  } else if (const auto* flag = std::get_if<bool>(&field)) {
    writer.Bool(*flag);
  } else {
    writer.Null();
  }
}

void WriteRows(Writer& writer, const std::vector<std::string>& headers, const std::vector<std::vector<Field>>& rows) {
  writer.StartArray();
  for (const auto& row : rows) {
    writer.StartObject();
    for (std::size_t i = 0; i < row.size(); ++i) Write(writer, headers[i], row[i]);
    writer.EndObject();
  }
  writer.EndArray();
}

void Put(const std::string& line) { std::fprintf(stdout, "%s\n", line.c_str()); }

void PrintRow(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line.append(widths[i] - Width(cells[i]) + 2, ' ');
  }
  Put(line);
}

}  // namespace

void Printer::Table(const std::vector<std::string>& headers, const std::vector<std::vector<Field>>& rows,
                    bool with_header) const {
  if (json_) {
    rapidjson::StringBuffer buffer;
    Writer writer(buffer);
    WriteRows(writer, headers, rows);
    Put(buffer.GetString());
    return;
  }
  std::vector<std::size_t> widths;
  for (const auto& header : headers) widths.push_back(Width(header));
  std::vector<std::vector<std::string>> texts;
  for (const auto& row : rows) {
    auto& line = texts.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(TextOf(row[i]));
      widths[i] = std::max(widths[i], Width(line.back()));
    }
  }
  if (with_header) PrintRow(headers, widths);
  for (const auto& line : texts) PrintRow(line, widths);
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
  for (const auto& [name, field] : fields) Put(fmt::format("{:<{}}  {}", name + ":", width + 1, TextOf(field)));
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

void Printer::Note(const std::string& line) const {
  if (!json_) Put(line);
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

}  // namespace ratchet::cli
