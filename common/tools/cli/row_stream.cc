#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "common/tools/cli/printer.h"
#include "common/tools/cli/printer_parts.h"

namespace ratchet::cli {
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
