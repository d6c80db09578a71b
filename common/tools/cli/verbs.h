// The verbs and flags of the command line, declared for CLI11, each with its help, its examples, and what kind of thing
// each argument is: the parser, --help and the completion of shells come from this one declaration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "common/tools/cli/commands.h"

namespace ratchet::cli {

// The action of the chosen verb; set when it is parsed.
using Action = std::function<int(Session&)>;

// All verbs below, in the order of --help.
void AddAllVerbs(CLI::App& app, Action& action);
void AddClusterVerbs(CLI::App& app, Action& action);
void AddTableVerbs(CLI::App& app, Action& action);
void AddNamespaceVerbs(CLI::App& app, Action& action);
void AddPeerVerbs(CLI::App& app, Action& action);
void AddRowVerbs(CLI::App& app, Action& action);
void AddRegionVerbs(CLI::App& app, Action& action);
void AddSnapshotVerbs(CLI::App& app, Action& action);
void AddServerVerbs(CLI::App& app, Action& action);
void AddSwitchVerb(CLI::App& app, Action& action);
void AddProcedureVerbs(CLI::App& app, Action& action);
void AddHistoryVerbs(CLI::App& app, Action& action);
void AddOperatorVerbs(CLI::App& app, Action& action);

// Kinds of arguments: shown in --help; the completion looks them up in the cluster.
namespace kind {
inline constexpr const char* kTable = "TABLE";
inline constexpr const char* kRegion = "REGION";
inline constexpr const char* kServer = "SERVER";
inline constexpr const char* kPid = "PID";
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kScope = "WHAT";
inline constexpr const char* kRow = "ROW";
inline constexpr const char* kColumn = "COLUMN";
inline constexpr const char* kNumber = "N";
inline constexpr const char* kMillis = "MS";
inline constexpr const char* kText = "TEXT";
}  // namespace kind

// Adds a verb with its own examples ("; "-free lines, each without the leading "ratchet ").
CLI::App* AddVerb(CLI::App& app, const char* word, const char* help, std::initializer_list<const char*> examples);
// A whole number in a range: no sign, no suffix.
CLI::Validator Whole(std::uint64_t low, std::uint64_t high);
CLI::Option* AddTable(CLI::App* verb, std::string& into, const char* help = "Name, or namespace:name");
// One region, named in any accepted form.
CLI::Option* AddRegion(CLI::App* verb, std::string& into);
CLI::Option* AddPid(CLI::App* verb, std::uint64_t& into, const char* name = "pid");

}  // namespace ratchet::cli
