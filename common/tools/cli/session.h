// The context of every command, and the ways in which a command ends: each prints its result or its error, and returns
// an exit code (exit_status.h). Errors go to standard error.
#pragma once

#include <cstdint>
#include <string>

#include "common/client/admin.h"
#include "common/client/connection.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/printer.h"

namespace ratchet::cli {

struct Session {
  client::Connection& connection;
  const Printer printer;
  Millis timeout;
  bool quiet = false;                        // no progress is shown
  client::Admin admin{connection, timeout};  // each call has the whole time-out
};

// Prints "ratchet: <error>" to stderr (with --json also {"error": ...} to stdout) and returns the error's exit code.
int Report(const Session& session, const Error& error);
// The exit code of a command that has ended; reports its error.
int Finish(const Session& session, const Result<int>& ended);
// As Report; if the table does not exist the error names the one that was probably meant.
int ReportOnTable(Session& session, const Error& error, const TableName& table);
// An error only when the master reports that the table does not exist; a master that does not answer is not an
// obstacle.
[[nodiscard]] Status RequireTable(Session& session, const TableName& table);
// Does what RequireTable does, for a namespace.
[[nodiscard]] Status RequireNamespace(Session& session, const std::string& name);

// Prints the pid, or waits for the end and prints `done`.
int FinishOnTable(Session& session, Result<std::uint64_t> pid, bool wait, const TableName& table,
                  const std::string& done);
// Prints the pid, or waits for the end and prints `done`, with the text of the procedure's result.
int FinishAlone(Session& session, const Result<std::uint64_t>& pid, const char* done, const std::string& what,
                bool wait);

}  // namespace ratchet::cli
