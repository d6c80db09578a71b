// Executes an operation of a history on a column of a real table. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "chaos/history/operation.h"
#include "common/base/clock.h"
#include "common/client/table.h"

namespace ratchet::chaos {

// A register: one column of one row. Columns "s" hold text; columns "n" hold 8-byte numbers, decimal in histories.
struct RegisterName {
  std::string row;
  bool number = false;
  [[nodiscard]] const char* qualifier() const { return number ? "n" : "s"; }
  [[nodiscard]] std::string key() const { return row + '/' + qualifier(); }  // in histories
  auto operator<=>(const RegisterName&) const = default;
};

// Decodes the stored bytes. A number without 8 bytes gives a text that no model can explain.
[[nodiscard]] Value ReadRegister(const RegisterName& name, const client::Row& row);

// Executes `operation` and fills in its times, outcome and answer; its other fields must be set.
void ExecuteOperation(client::Table& table, const Clock& clock, const RegisterName& name, Operation& operation);

}  // namespace ratchet::chaos
