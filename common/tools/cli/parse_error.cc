#include "common/tools/cli/parse_error.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "common/tools/cli/suggest.h"

namespace ratchet::cli {
namespace {

bool IsError(const CLI::ParseError& error, CLI::ExitCodes code) {
  return error.get_exit_code() == static_cast<int>(code);
}

// The verb that was chosen, or null.
const CLI::App* Chosen(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  if (const CLI::App* verb = Chosen(app); verb != nullptr) {
    if (const CLI::Option* option = verb->get_option_no_throw(name); option != nullptr) return option;
  }
  return app.get_option_no_throw(name);
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::App* level : {&app, Chosen(app)}) {
    if (level == nullptr) continue;
    for (const CLI::Option* option : level->get_options()) {
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  return flags;
}

// The parser throws one text for several mistakes; these functions return it in this program's words. `text` begins
// with the option's name: "family is required", "--regions: 'x' must be ...".

std::string MissingText(const std::string& text) {
  const std::string name = text.substr(0, text.find(" is required"));
  return fmt::format("the {} '{}' is missing", name.starts_with('-') ? "option" : "argument", name);
}

std::string CountText(const CLI::App& app, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* option = FindOption(app, name);
  if (option == nullptr) return text;
  const auto count = static_cast<int>(option->count());
  if (count == 0) return fmt::format("the option '{}' has no value", name);
  if (count < option->get_items_expected_min())
    return fmt::format("'{}' needs at least {} values, not {}", name, option->get_items_expected_min(), count);
  if (option->get_items_expected_max() == 1) return fmt::format("'{}' is given {} times; give it once", name, count);
  return fmt::format("'{}' takes at most {} values, not {}", name, option->get_items_expected_max(), count);
}

// "--start excludes --prefix"
std::string ConflictText(const std::string& text) {
  constexpr std::string_view kBetween = " excludes ";
  const auto at = text.find(kBetween);
  if (at == std::string::npos) return text;
  return fmt::format("give either '{}' or '{}', not both", text.substr(0, at), text.substr(at + kBetween.size()));
}

// "to: perhaps not in {on,off}": a choice, written as a list with the nearest choice. The name of an argument is left
// out, because the value identifies it; an option keeps its name.
std::string ValueText(const std::string& text) {
  constexpr std::string_view kBetween = " not in {";
  const auto name = text.find(": ");
  if (name == std::string::npos) return text;
  const std::string before = text.starts_with('-') ? text.substr(0, name + 2) : std::string();
  const std::string wrong = text.substr(name + 2);
  const auto at = wrong.rfind(kBetween);
  if (at == std::string::npos || !wrong.ends_with('}')) return before + wrong;
  const std::string value = wrong.substr(0, at);
  const std::string list = wrong.substr(at + kBetween.size(), wrong.size() - at - kBetween.size() - 1);
  const auto choices = CLI::detail::split(list, ',');
  std::string known;
  for (const auto& choice : choices) known += (known.empty() ? "" : ", ") + choice;
  return fmt::format("{}'{}' must be one of {}{}", before, value, known, DidYouMean(value, choices));
}

std::string ExtraText(const CLI::App& app, const std::vector<std::string>& unknown) {
  const auto flag =
      std::find_if(unknown.begin(), unknown.end(), [](const std::string& word) { return word.starts_with('-'); });
  if (flag != unknown.end()) return fmt::format("there is no option '{}'{}", *flag, DidYouMean(*flag, FlagNames(app)));
  return fmt::format("unexpected argument '{}'", unknown.empty() ? std::string() : unknown.front());
}

// True if the option at the beginning of `text` is one of the program, not of the verb.
bool IsOfAllVerbs(const CLI::App& app, const CLI::App& verb, const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  return app.get_option_no_throw(name) != nullptr && verb.get_option_no_throw(name) == nullptr;
}

std::string CauseText(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (IsError(error, CLI::ExitCodes::RequiredError)) return MissingText(text);
  if (IsError(error, CLI::ExitCodes::ArgumentMismatch)) return CountText(app, text);
  if (IsError(error, CLI::ExitCodes::ExcludesError)) return ConflictText(text);
  if (IsError(error, CLI::ExitCodes::ExtrasError)) return ExtraText(app, app.remaining(true));
  if (IsError(error, CLI::ExitCodes::ValidationError)) return ValueText(text);
  return text;
}

}  // namespace

std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* verb = Chosen(app);
  const auto unknown = app.remaining(true);
  if (IsError(error, CLI::ExitCodes::RequiredError) && verb == nullptr) {
    if (unknown.empty()) return "no command is given (see: ratchet --help)";
    if (!unknown.front().starts_with('-')) {
      std::vector<std::string> verbs;
      for (const auto* each : app.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(each->get_name());
      return fmt::format("'{}' is not a command{} (see: ratchet --help)", unknown.front(),
                         DidYouMean(unknown.front(), verbs));
    }
    return fmt::format("{} (see: ratchet --help)", ExtraText(app, unknown));
  }
  const std::string cause = CauseText(app, error);
  if (verb == nullptr || IsOfAllVerbs(app, *verb, error.what())) return fmt::format("{} (see: ratchet --help)", cause);
  return fmt::format("{}: {} (see: ratchet {} --help)", verb->get_name(), cause, verb->get_name());
}

}  // namespace ratchet::cli
