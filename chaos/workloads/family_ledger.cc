#include "chaos/workloads/family_ledger.h"

#include <utility>

#include <fmt/core.h>

namespace ratchet::chaos {

FamilyLedger::FamilyLedger(std::vector<std::string> keys, const std::vector<std::string>& others)
    : keys_(std::move(keys)) {
  const MutexLock lock(mutex_);
  asked_.resize(keys_.size());
  for (const std::string& name : others) families_[name].cells.resize(keys_.size());
  Family& first = families_[kLoadFamily];
  first.cells.resize(keys_.size());
  first.stage = Stage::kThere;
}

FamilyLedger::Write FamilyLedger::Begin(std::size_t row) {
  const MutexLock lock(mutex_);
  Write write{row, ++asked_[row], {}, client::Mutation::Put(keys_[row])};
  const std::string text = fmt::format("{}", write.number);
  for (const auto& [name, family] : families_) {
    if (family.stage != Stage::kThere) continue;
    write.changes[name] = family.changes;
    write.put.Set(name, kColumn, text, static_cast<std::int64_t>(write.number));
  }
  return write;
}

void FamilyLedger::Acknowledge(const Write& write) {
  const MutexLock lock(mutex_);
  for (const auto& [name, changes] : write.changes) {
    Family& family = families_.at(name);
    // If the family was added or dropped meanwhile, it is unknown which incarnation has the cell.
    if (family.changes == changes) family.cells[write.row].acknowledged = write.number;
  }
}

std::optional<std::string> FamilyLedger::RefusedForFamily(const Write& write) const {
  const MutexLock lock(mutex_);
  std::string names;
  for (const auto& [name, changes] : write.changes) {
    if (families_.at(name).changes != changes) return std::nullopt;
    names += " " + name;
  }
  return fmt::format("row {}: refused because of a missing family, although{} existed all the time", keys_[write.row],
                     names);
}

void FamilyLedger::BeginChange(const std::string& name) {
  const MutexLock lock(mutex_);
  Family& family = families_.at(name);
  family.was_there = family.stage == Stage::kThere;
  family.stage = Stage::kChanging;
  ++family.changes;
}

void FamilyLedger::EndChange(const std::string& name, Now now) {
  const MutexLock lock(mutex_);
  Family& family = families_.at(name);
  family.stage = now == Now::kThere ? Stage::kThere : Stage::kGone;
  ++family.changes;
  if (!family.was_there || now == Now::kThere) return;
  for (Cells& cells : family.cells) {
    if (cells.acknowledged != 0) cells.dead = cells.acknowledged;
    cells.acknowledged = 0;
  }
}

FamilyLedger::Read FamilyLedger::BeginRead(std::size_t row) const {
  const MutexLock lock(mutex_);
  Read read{row, {}, {}};
  for (const auto& [name, family] : families_) {
    read.changes[name] = family.changes;
    read.least[name] = family.cells[row].acknowledged;
  }
  return read;
}

std::optional<std::string> FamilyLedger::Observe(const Read& read, const client::Row& found) const {
  const MutexLock lock(mutex_);
  for (const auto& [name, family] : families_) {
    if (family.stage == Stage::kChanging || family.changes != read.changes.at(name)) continue;
    std::string wrong = Judge(read, name, family, found.Value(name, kColumn));
    if (!wrong.empty()) return fmt::format("row {}, family {}: {}", keys_[read.row], name, wrong);
  }
  return std::nullopt;
}

std::string FamilyLedger::Judge(const Read& read, const std::string& name, const Family& family,
                                std::optional<std::string_view> value) const {
  if (family.stage == Stage::kGone)
    return value ? fmt::format("holds {}, but the table has no such family", *value) : "";
  const std::uint64_t least = read.least.at(name);
  if (!value) return least == 0 ? "" : fmt::format("is empty, but {} was acknowledged", least);
  std::uint64_t number = 0;
  for (const char digit : *value) {
    if (digit < '0' || digit > '9') return fmt::format("holds '{}', which is not a number", *value);
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  const Cells& cells = family.cells[read.row];
  if (number == cells.dead && cells.dead != 0)
    return fmt::format("holds {}, which was written before a family of its name was dropped", number);
  if (number >= least && number <= asked_[read.row]) return "";
  return fmt::format("holds {}, but {} was acknowledged before and {} requested", number, least, asked_[read.row]);
}

std::string FamilyLedger::ToText() const {
  const MutexLock lock(mutex_);
  std::string text;
  for (std::size_t row = 0; row < keys_.size(); ++row) {
    text += fmt::format("{} {}", keys_[row], asked_[row]);
    for (const auto& [name, family] : families_) {
      if (family.stage == Stage::kThere) text += fmt::format(", {} {}", name, family.cells[row].acknowledged);
    }
    text += "\n";
  }
  return text;
}

}  // namespace ratchet::chaos
