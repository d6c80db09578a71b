#include "common/base/config.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/base/exit_codes.h"
#include "common/base/mutex.h"
#include "common/base/setting_value.h"

namespace ratchet {
namespace {

std::string EnvironmentName(const std::string& name) {
  std::string result = "RATCHET_";
  for (const char c : name) result += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// A value that was read and is allowed, but not applied yet.
struct Prepared {
  std::function<void()> commit;
  std::string text;  // as it is shown
  std::string source = "default";
};

struct Setting {
  SettingText text;
  std::string unit_and_range;  // "ms, 400 to 60000"
  bool is_bool = false;
  bool is_list = false;
  bool required = false;
  bool live = false;
  std::function<Result<Prepared>(const std::vector<std::string>&)> prepare;
  std::function<Prepared()> now;  // reads the current value, to return to
  std::function<void()> changed;  // empty: no part is notified of a change
  Prepared otherwise;             // the default
  std::string source = "default";
  std::string wanted;                    // the value in the sources since a reload; empty: as applied
  std::vector<std::string> flag_values;  // filled by CLI11
};

using Given = std::map<Setting*, Prepared>;

// "zk-session-ms" or one of its aliases.
bool HasName(const Setting& setting, const std::string& name) {
  const auto& aliases = setting.text.aliases;
  return setting.text.name == name || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

}  // namespace

struct Settings::Impl {
  Mutex mutex;  // used from Parse on: Reload and Dump, for values that change, their sources and the values in the
                // sources
  std::string program;
  std::string purpose;
  std::vector<std::unique_ptr<Setting>> settings;
  std::set<std::string> names;
  std::string positional_name;
  std::vector<std::string>* positionals = nullptr;
  std::string config_file;

  Setting& Add(SettingText text, std::string unit_and_range) {
    for (const auto& name : text.aliases) {
      RATCHET_CHECK(names.insert(name).second, "setting name {} is used twice", name);
    }
    RATCHET_CHECK(names.insert(text.name).second, "setting name {} is used twice", text.name);
    settings.push_back(std::make_unique<Setting>());
    settings.back()->text = std::move(text);
    settings.back()->unit_and_range = std::move(unit_and_range);
    return *settings.back();
  }

  Setting* Find(const std::string& name) {
    for (auto& setting : settings) {
      if (HasName(*setting, name)) return setting.get();
    }
    return nullptr;
  }

  // Binds a scalar: `parse` turns text into a value, `in_range` says whether it is allowed.
  template <class T>
  Setting& AddScalar(SettingText text, std::string allowed, SettingTarget<T> target,
                     std::function<Result<T>(const std::string&)> parse, std::function<bool(const T&)> in_range,
                     std::function<std::string(const T&)> show) {
    Setting& setting = Add(std::move(text), allowed);
    setting.live = target.live;
    setting.prepare = [=](const std::vector<std::string>& values) -> Result<Prepared> {
      auto parsed = parse(values.back());
      if (!parsed.ok())
        return Error(Code::kInvalidArgument, fmt::format("{} (allowed: {})", parsed.error().message(), allowed));
      if (!in_range(*parsed))
        return Error(Code::kInvalidArgument, fmt::format("not in the range (allowed: {})", allowed));
      return Prepared{[set = target.set, value = *parsed] { set(value); }, show(*parsed)};
    };
    setting.now = [=] {
      const T value = target.get();
      return Prepared{[set = target.set, value] { set(value); }, show(value)};
    };
    return setting;
  }

  static Status Take(Setting& setting, const std::vector<std::string>& values, const std::string& source,
                     Given* given) {
    auto prepared = setting.prepare(values);
    if (!prepared.ok()) {
      return Error(Code::kInvalidArgument, fmt::format("setting {} from {}: '{}': {}", setting.text.name, source,
                                                       Join(values, ","), prepared.error().message()));
    }
    prepared->source = source;
    (*given)[&setting] = std::move(*prepared);
    return Ok();
  }

  // The last source that sets a setting wins; every source must have an allowed value.
  Status ReadSources(Given* given);
  Status ReadConfigFile(Given* given);
  Status ReadEnvironment(Given* given);
  Status ReadFlags(Given* given);
  Result<bool> ParseFlags(int argc, const char* const* argv, bool* print_config, std::string* output);
  [[nodiscard]] std::string HelpText(const Setting& setting) const;
};

Settings::Settings(std::string program, std::string purpose) : impl_(std::make_unique<Impl>()) {
  impl_->program = std::move(program);
  impl_->purpose = std::move(purpose);
  impl_->names = {"help", "print-config", "config"};
}

Settings::~Settings() = default;

void Settings::AddInt(SettingText text, SettingTarget<std::int64_t> target, IntRange range, std::string_view unit) {
  const std::string bound = range.high == std::numeric_limits<std::int64_t>::max()
                                ? fmt::format("{} or more", range.low)
                                : fmt::format("{} to {}", range.low, range.high);
  impl_->AddScalar<std::int64_t>(
      std::move(text), unit.empty() ? bound : fmt::format("{}, {}", unit, bound), target,
      [](const std::string& value) { return ParseInt(value); },
      [range](const std::int64_t& value) { return value >= range.low && value <= range.high; },
      [](const std::int64_t& value) { return std::to_string(value); });
}

void Settings::AddMillis(SettingText text, SettingTarget<Millis> target, Millis low, Millis high) {
  impl_->AddScalar<Millis>(
      std::move(text), fmt::format("ms, {} to {}", low.count(), high.count()), target,
      [](const std::string& value) { return ParseMillis(value); },
      [low, high](const Millis& value) { return value >= low && value <= high; },
      [](const Millis& value) { return std::to_string(value.count()); });
}

void Settings::AddBytes(SettingText text, SettingTarget<std::uint64_t> target, std::uint64_t low, std::uint64_t high) {
  impl_->AddScalar<std::uint64_t>(
      std::move(text), fmt::format("bytes, {} to {}", FormatBytes(low), FormatBytes(high)), target,
      [](const std::string& value) { return ParseBytes(value); },
      [low, high](const std::uint64_t& value) { return value >= low && value <= high; },
      [](const std::uint64_t& value) { return FormatBytes(value); });
}

void Settings::AddDouble(SettingText text, SettingTarget<double> target, double low, double high,
                         std::string_view unit) {
  const std::string bound = fmt::format("{} to {}", low, high);
  impl_->AddScalar<double>(
      std::move(text), unit.empty() ? bound : fmt::format("{}, {}", unit, bound), target,
      [](const std::string& value) { return ParseDouble(value); },
      [low, high](const double& value) { return value >= low && value <= high; },
      [](const double& value) { return fmt::format("{}", value); });
}

void Settings::AddBool(SettingText text, SettingTarget<bool> target) {
  impl_->AddScalar<bool>(
      std::move(text), "true or false", target, [](const std::string& value) { return ParseBool(value); },
      [](const bool&) { return true; }, [](const bool& value) { return std::string(value ? "true" : "false"); });
  impl_->settings.back()->is_bool = true;
}

void Settings::AddText(SettingText text, std::string* target, Presence presence, std::vector<std::string> allowed) {
  Setting& setting = impl_->AddScalar<std::string>(
      std::move(text), allowed.empty() ? "text" : Join(allowed, " | "), target,
      [](const std::string& value) -> Result<std::string> { return value; },
      [allowed](const std::string& value) {
        return allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end();
      },
      [](const std::string& value) { return value; });
  setting.required = presence == Presence::kRequired;
}

void Settings::AddList(SettingText text, std::vector<std::string>* target) {
  Setting& setting = impl_->Add(std::move(text), "list");
  setting.is_list = true;
  const auto value_of = [target](std::vector<std::string> list) {
    std::string shown = Join(list, ",");
    return Prepared{[target, list = std::move(list)] { *target = list; }, std::move(shown)};
  };
  setting.prepare = [value_of](const std::vector<std::string>& values) -> Result<Prepared> {
    std::vector<std::string> list;
    for (const auto& value : values) {
      for (auto& part : SplitList(value)) list.push_back(std::move(part));
    }
    return value_of(std::move(list));
  };
  setting.now = [target, value_of] { return value_of(*target); };
}

void Settings::AllowPositionals(std::string_view what, std::vector<std::string>* target) {
  impl_->positional_name = std::string(what);
  impl_->positionals = target;
}

std::string Settings::Impl::HelpText(const Setting& setting) const {
  std::string text = setting.text.help;
  if (!setting.is_bool && setting.unit_and_range != "text" && setting.unit_and_range != "list") {
    text += fmt::format(" [{}]", setting.unit_and_range);
  }
  if (setting.required) {
    text += " (required)";
  } else if (!setting.otherwise.text.empty()) {
    text += fmt::format(" (default {})", setting.otherwise.text);
  }
  if (setting.live) text += " (changes at a reload)";
  if (!setting.text.aliases.empty()) text += fmt::format(" (alias {})", Join(setting.text.aliases, ", "));
  return text;
}

// Returns false if --help was answered on `output`.
Result<bool> Settings::Impl::ParseFlags(int argc, const char* const* argv, bool* print_config, std::string* output) {
  CLI::App app(purpose, program);
  app.set_help_flag("-h,--help", "print this and exit");
  app.add_flag("--print-config", *print_config, "print every setting with its value and source, and exit");
  app.add_option("--config", config_file, "file with settings, one 'name = value' a line")->type_name("FILE");
  for (auto& setting : settings) {
    std::string flags = "--" + setting->text.name;
    for (const auto& alias : setting->text.aliases) flags += ",--" + alias;
    auto* option = app.add_option(flags, setting->flag_values, HelpText(*setting));
    option->type_name(setting->is_bool ? "" : "VALUE")->allow_extra_args(false);
    // "--flag" alone sets a bool; everything else wants one value each time.
    if (setting->is_bool) option->expected(0, 1);
    option->multi_option_policy(setting->is_list ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
  }
  if (positionals != nullptr) app.add_option(positional_name, *positionals, positional_name);
  app.footer(
      fmt::format("Every setting can also come from the environment (RATCHET_<NAME>, '-' becomes '_') or the "
                  "config file; the command line wins."));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *output = app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    return Error(Code::kInvalidArgument, fmt::format("{} (try {} --help)", error.what(), program));
  }
  return true;
}

Status Settings::Impl::ReadConfigFile(Given* given) {
  if (config_file.empty()) {
    if (const char* from_environment = std::getenv("RATCHET_CONFIG")) config_file = from_environment;
  }
  if (config_file.empty()) return Ok();
  std::error_code unknown;
  if (std::filesystem::is_directory(config_file, unknown)) {  // opens like an empty file
    return Error(Code::kInvalidArgument,
                 fmt::format("setting config: '{}' is a directory; name a file with settings", config_file));
  }
  std::ifstream file(config_file);
  if (!file) return Error(Code::kInvalidArgument, fmt::format("setting config: cannot read '{}'", config_file));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string source = fmt::format("{}:{}", config_file, number);
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      return Error(Code::kInvalidArgument, fmt::format("{}: expected 'name = value'", source));
    const std::string name = Trim(line.substr(0, equals));
    Setting* setting = Find(name);
    if (setting == nullptr)
      return Error(Code::kInvalidArgument, fmt::format("{}: {} has no setting '{}'", source, program, name));
    RATCHET_TRY(Take(*setting, {Trim(line.substr(equals + 1))}, source, given));
  }
  if (file.bad()) {
    return Error(Code::kInvalidArgument, fmt::format("setting config: '{}' cannot be read to its end", config_file));
  }
  return Ok();
}

Status Settings::Impl::ReadEnvironment(Given* given) {
  for (auto& setting : settings) {
    const std::string name = EnvironmentName(setting->text.name);
    if (const char* value = std::getenv(name.c_str())) RATCHET_TRY(Take(*setting, {value}, name, given));
  }
  return Ok();
}

Status Settings::Impl::ReadFlags(Given* given) {
  for (auto& setting : settings) {
    if (setting->flag_values.empty()) continue;
    auto values = setting->flag_values;
    if (setting->is_bool && values.back().empty()) values = {"true"};
    RATCHET_TRY(Take(*setting, values, "--" + setting->text.name, given));
  }
  return Ok();
}

Status Settings::Impl::ReadSources(Given* given) {
  RATCHET_TRY(ReadConfigFile(given));
  RATCHET_TRY(ReadEnvironment(given));
  return ReadFlags(given);
}

Result<Settings::Outcome> Settings::Parse(int argc, const char* const* argv, std::string* output) {
  for (auto& setting : impl_->settings) {
    setting->otherwise = setting->now();
    setting->flag_values.clear();
  }
  bool print_config = false;
  RATCHET_ASSIGN(const bool go_on, impl_->ParseFlags(argc, argv, &print_config, output));
  if (!go_on) return Outcome::kPrinted;
  Given given;
  RATCHET_TRY(impl_->ReadSources(&given));
  for (const auto& [setting, prepared] : given) {
    prepared.commit();
    setting->source = prepared.source;
  }
  if (print_config) {
    *output = Dump();
    return Outcome::kPrinted;
  }
  for (const auto& setting : impl_->settings) {
    if (setting->required && setting->source == "default") {
      return Error(Code::kInvalidArgument,
                   fmt::format("setting {} is required: {}", setting->text.name, setting->text.help));
    }
  }
  return Outcome::kRun;
}

int Settings::ParseOrExitCode(int argc, const char* const* argv) {
  std::string output;
  const auto outcome = Parse(argc, argv, &output);
  std::fputs(output.c_str(), stdout);
  if (!outcome.ok()) {
    std::fputs(fmt::format("{}: {}\n", impl_->program, outcome.error().message()).c_str(), stderr);
    return exit_code::kUsage;
  }
  return *outcome == Outcome::kRun ? -1 : exit_code::kOk;
}

void Settings::OnReload(const std::string& name, std::function<void()> changed) {
  Setting* const setting = impl_->Find(name);
  RATCHET_CHECK(setting != nullptr, "no setting {}", name);
  setting->live = true;
  setting->changed = [earlier = std::move(setting->changed), changed = std::move(changed)] {
    if (earlier) earlier();
    changed();
  };
}

Result<ReloadReport> Settings::Reload() {
  const MutexLock lock(impl_->mutex);
  Given given;
  RATCHET_TRY(impl_->ReadSources(&given));
  ReloadReport report;
  for (const auto& setting : impl_->settings) {
    const auto found = given.find(setting.get());
    const Prepared& next = found == given.end() ? setting->otherwise : found->second;
    const std::string before = setting->now().text;
    setting->wanted.clear();
    if (next.text == before) {
      setting->source = next.source;
    } else if (setting->live) {
      next.commit();
      setting->source = next.source;
      if (setting->changed) setting->changed();
      report.changed.push_back(
          fmt::format("{} is '{}' now ({}), it was '{}'", setting->text.name, next.text, next.source, before));
    } else {
      setting->wanted = fmt::format("'{}' ({})", next.text, next.source);
      report.need_restart.push_back(
          fmt::format("{} stays '{}': it needs a restart for {}", setting->text.name, before, setting->wanted));
    }
  }
  return report;
}

std::vector<SettingRow> Settings::List() const {
  const MutexLock lock(impl_->mutex);
  std::vector<SettingRow> rows;
  rows.reserve(impl_->settings.size());
  for (const auto& setting : impl_->settings) {
    rows.push_back(
        {setting->text.name, setting->now().text, setting->otherwise.text, setting->source, setting->wanted});
  }
  return rows;
}

std::string SettingRow::SourceText() const {
  return wanted.empty() ? source : source + "; needs a restart for " + wanted;
}

std::string Settings::Dump() const {
  std::string text;
  for (const SettingRow& row : List()) text += fmt::format("{} = {}   # {}\n", row.name, row.value, row.SourceText());
  return text;
}

}  // namespace ratchet
