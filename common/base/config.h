// Settings of a program: each is bound to a variable and has a name, a unit, a range and a documented default.
//
// Sources, the first that has the setting wins:
//   1. the command line   --zk-session-ms 2000   (or --zk-session-ms=2000)
//   2. the environment    RATCHET_ZK_SESSION_MS=2000
//   3. the config file    zk-session-ms = 2000   (--config FILE; '#' starts a comment; one setting a line)
//   4. the default: the value that the variable has when it is bound
// Aliases (the hbase.* keys of the original) are accepted wherever a name is, except in the environment. The error for
// a wrong value names the setting, the source, and the allowed values. Unknown names are refused too.
//
// Every program understands --help, --print-config (values and their sources) and --config.
//
// A setting that is bound to a Live value (or named to OnReload) changes while the process runs: Reload reads the
// sources again. The rest is read once, at the start.
//
// Add*, OnReload and Parse: at the start of main, by one thread. Reload, List, Dump: afterwards, from any thread. Only
// config.cc sees CLI11.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"

namespace ratchet {

// The texts of every kind of setting. `name` is lower case words joined by '-'; a number's name ends in its unit where
// it has one (-ms, -bytes).
struct SettingText {
  std::string name;
  std::string help;                  // one sentence for --help
  std::vector<std::string> aliases;  // e.g. {"hbase.procedure.remote.dispatcher.threads"}
};

struct IntRange {
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

enum class Presence { kOptional, kRequired };

// The target of a setting: a variable, or a value that may change while the process runs.
template <class T>
struct SettingTarget {
  SettingTarget(T* variable)  // NOLINT(google-explicit-constructor)
      : set([variable](const T& value) { *variable = value; }), get([variable] { return *variable; }) {}
  // A number of another type, whose range the setting keeps.
  template <std::integral U>
  requires(!std::same_as<T, U> && !std::same_as<U, bool>)
      SettingTarget(U* variable)  // NOLINT(google-explicit-constructor)
      : set([variable](const T& value) { *variable = static_cast<U>(value); }),
        get([variable] { return static_cast<T>(*variable); }) {}
  SettingTarget(Live<T>* value)  // NOLINT(google-explicit-constructor): AddInt(..., &options.at_once, ...)
      : set([cell = *value](const T& now) mutable { cell.Set(now); }),
        get([cell = *value] { return cell.Get(); }),
        live(true) {}
  std::function<void(const T&)> set;
  std::function<T()> get;
  bool live = false;
};

// The result of a reload, as sentences for the log: "log-level is debug now, it was info".
struct ReloadReport {
  std::vector<std::string> changed;
  std::vector<std::string> need_restart;  // settings whose sources have another value, but which cannot change live
};

// A setting in force, for listings.
struct SettingRow {
  std::string name;
  std::string value;
  std::string default_value;
  std::string source;  // "default", "--workers", "RATCHET_WORKERS", "FILE:4"
  std::string wanted;  // "'3000' (FILE:4)": the value that needs a restart; empty: none
  // The source as listings show it: with the value that needs a restart.
  [[nodiscard]] std::string SourceText() const;
};

class Settings {
 public:
  // `program` and `purpose` head the --help text.
  Settings(std::string program, std::string purpose);
  ~Settings();
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  // Each binds `target`, which must outlive the call of Parse. Names and aliases must be unique (checked).
  void AddInt(SettingText text, SettingTarget<std::int64_t> target, IntRange range, std::string_view unit = "");
  // Milliseconds; "1500", "1500ms", "2s", "5min" are accepted.
  void AddMillis(SettingText text, SettingTarget<Millis> target, Millis low, Millis high);
  // Bytes; "65536", "64KiB", "128MiB", "2GiB" are accepted.
  void AddBytes(SettingText text, SettingTarget<std::uint64_t> target, std::uint64_t low, std::uint64_t high);
  void AddDouble(SettingText text, SettingTarget<double> target, double low, double high, std::string_view unit = "");
  // On the command line `--name` alone means true; true/false/yes/no/1/0 elsewhere.
  void AddBool(SettingText text, SettingTarget<bool> target);
  // `allowed` empty: any text.
  void AddText(SettingText text, std::string* target, Presence presence = Presence::kOptional,
               std::vector<std::string> allowed = {});
  // May be given several times on the command line; a comma-separated list elsewhere.
  void AddList(SettingText text, std::vector<std::string>* target);

  // Allows arguments without a flag (a command, a file); refused when the program did not ask for it here.
  void AllowPositionals(std::string_view what, std::vector<std::string>* target);

  enum class Outcome {
    kRun,      // every bound variable is set and in range
    kPrinted,  // --help, --version or --print-config was answered on `output`: exit with 0
  };
  // `output` receives the text of --help or --print-config. An error (kInvalidArgument) names the setting, the source
  // and the allowed values: print it and exit with exit_code::kUsage.
  [[nodiscard]] Result<Outcome> Parse(int argc, const char* const* argv, std::string* output);

  // The usual beginning of main: parses, prints what was requested, and returns -1 to continue or the exit code.
  [[nodiscard]] int ParseOrExitCode(int argc, const char* const* argv);

  // After binding: `name` may change live too; Reload calls `changed` on its thread after each change.
  void OnReload(const std::string& name, std::function<void()> changed);
  // Reads command line, environment and file again. An error (kInvalidArgument, as Parse) changes nothing.
  [[nodiscard]] Result<ReloadReport> Reload();

  // In the order of binding, after Parse.
  [[nodiscard]] std::vector<SettingRow> List() const;
  // "zk-session-ms = 2000   # default" for each setting, in the order of binding. The syntax is the config file's. A
  // setting whose sources have another value since a reload has "; needs a restart for 3000 (FILE:4)" after its source.
  [[nodiscard]] std::string Dump() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet
