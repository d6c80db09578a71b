// What the documents say of tests and mutants is there: a table that names a test that was renamed says nothing.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

std::string ReadDocument(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "Suite.Name" of every test.
const std::set<std::string>& Tests() {
  static const std::set<std::string> all = [] {
    static const std::regex declaration(R"(^TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
    std::set<std::string> tests;
    for (const auto& file : ReadSourceTree()) {
      for (const std::string& line : file.lines) {
        std::smatch match;
        if (line.starts_with("TEST") && std::regex_search(line, match, declaration)) {
          tests.insert(match[1].str() + "." + match[2].str());
        }
      }
    }
    return tests;
  }();
  return all;
}

// `name` may end with "*".
bool IsTest(const std::string& suite, std::string name) {
  if (!name.ends_with('*')) return Tests().contains(suite + "." + name);
  name.pop_back();
  const auto first = Tests().lower_bound(suite + "." + name);
  return first != Tests().end() && first->starts_with(suite + "." + name);
}

// Inside backticks: "Suite.Name", "Suite.*", "Suite.Prefix*", or "…Name" of the suite that the same line named last.
// With `home`, a name alone is a test of that suite; else it is no test.
void ExpectTestsExist(const std::string& path, const std::string& home = {}) {
  static const std::regex mention(R"(`(?:([A-Z]\w*)\.|(…))?([A-Z]\w*\*?|\*)`)");
  std::size_t found = 0;
  std::istringstream document(ReadDocument(path));
  for (std::string line; std::getline(document, line);) {
    std::string suite = home;
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) {
      const std::smatch& match = *it;
      if (match[1].matched) suite = match[1].str();
      if (!match[1].matched && !match[2].matched && (home.empty() || line.find('|') != 0)) continue;
      const std::string name = match[3].str();
      const std::string owner = match[1].matched || match[2].matched ? suite : home;
      ++found;
      EXPECT_TRUE(IsTest(owner, name)) << path << " names the test " << owner << "." << name << ", which is not there";
    }
  }
  EXPECT_GT(found, 20U) << path << ": run from the root of the project";
}

// Inside backticks, in lines that speak of mutants: "group.name", "group.*".
void ExpectMutantsExist(const std::string& path) {
  static const std::regex mention(R"(`([a-z]+\.(?:[a-z_]+|\*))`)");
  std::set<std::string> mutants;
  for (const std::string& line : MutantNames()) mutants.insert(line.substr(0, line.find(':')));
  std::istringstream document(ReadDocument(path));
  for (std::string line; std::getline(document, line);) {
    if (line.find("mutant") == std::string::npos) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) {
      std::string name = (*it)[1].str();
      const bool group = name.ends_with('*');
      if (group) name.pop_back();
      const auto at = mutants.lower_bound(name);
      EXPECT_TRUE(at != mutants.end() && (group ? at->starts_with(name) : *at == name))
          << path << " names the mutant " << name << ", which is not there";
    }
  }
}

TEST(Docs, TestsOfTheSafetyRulesExist) {
  ExpectTestsExist("docs/safety-rules.md");
  ExpectMutantsExist("docs/safety-rules.md");
}

TEST(Docs, TestsOfTheHardCasesExist) {
  ExpectTestsExist("docs/hard-cases.md");
  ExpectMutantsExist("docs/hard-cases.md");
}

// Rules that no code needs yet: rows of the table under this heading.
std::set<std::string> RulesToCome(const std::string& document) {
  static const std::regex row(R"(^\| (S\d+) \|)");
  std::set<std::string> rules;
  std::istringstream lines(document);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) inside = line == "### Rules of the life cycle that no code needs yet";
    std::smatch match;
    if (inside && std::regex_search(line, match, row)) rules.insert(match[1].str());
  }
  return rules;
}

// Each rule whose heading stands in the document has a mutant: a switch that leaves it out, and a test that notices. A
// rule has either a mutant or a row among those that no code needs yet.
TEST(Docs, EverySafetyRuleHasAMutant) {
  static const std::regex heading(R"(^(S\d+) )");
  static const std::regex mention(R"(\bS\d+\b)");
  std::set<std::string> broken;
  for (const std::string& line : MutantNames()) {
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) broken.insert(it->str());
  }
  const std::string text = ReadDocument("docs/safety-rules.md");
  const std::set<std::string> to_come = RulesToCome(text);
  std::istringstream document(text);
  std::size_t rules = 0;
  for (std::string line; std::getline(document, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, heading)) continue;
    ++rules;
    const std::string rule = match[1].str();
    EXPECT_NE(broken.contains(rule), to_come.contains(rule))
        << rule << " needs a mutant (common/base/mutants.def) or, before its code lands, a row among the rules to come";
  }
  EXPECT_GE(rules, 34U);  // none is lost from the document
}

TEST(Docs, TestsOfTheMutantsExist) { ExpectTestsExist("docs/mutants.md"); }

TEST(Docs, TestsOfTheProcedureRulesExist) {
  ExpectTestsExist("docs/procedure-rules.md", "ExecutorTest");
  ExpectMutantsExist("docs/procedure-rules.md");
}

// Names of metrics in the code: the first text of a call that begins a family.
TEST(Docs, EveryMetricIsDocumented) {
  static const std::regex family(R"re(text\.(?:Counter|Gauge|Histogram)\(\s*"([a-z_]+)")re");
  const std::string document = ReadDocument("docs/metrics.md");
  std::size_t families = 0;
  for (const auto& file : ReadSourceTree()) {
    if (!file.path.starts_with("master/") && !file.path.starts_with("regionserver/") &&
        !file.path.starts_with("common/"))
      continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), family), end; it != end; ++it) {
      ++families;
      std::string name = (*it)[1].str();
      if (!name.starts_with("process_")) name = "ratchet_" + name;
      // "`..._total`" in a row stands for the same beginning.
      const std::string tail = name.starts_with("ratchet_store_") ? "`..." + name.substr(13) + "`" : name;
      EXPECT_TRUE(document.find(name) != std::string::npos || document.find(tail) != std::string::npos)
          << file.path << ": docs/metrics.md does not tell of " << name;
    }
  }
  EXPECT_GT(families, 60U);
}

// Classes of exceptions that clients may meet, by their simple names.
TEST(Docs, EveryExceptionIsDocumented) {
  static const std::regex name(R"re("(?:org\.apache|java\.io)\.[a-z.]*([A-Z][A-Za-z]+)")re");
  const std::string document = ReadDocument("docs/exceptions.md");
  std::size_t classes = 0;
  for (const auto& file : ReadSourceTree()) {
    if (!file.path.starts_with("common/rpc/") || file.path.find("exceptions.") == std::string::npos) continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), name), end; it != end; ++it) {
      ++classes;
      EXPECT_NE(document.find((*it)[1].str()), std::string::npos)
          << file.path << ": docs/exceptions.md does not tell of " << (*it)[1];
    }
  }
  EXPECT_GT(classes, 50U);
}

// Verbs of the command line: calls of which the first two texts are a word and a sentence.
TEST(Docs, EveryVerbIsDocumented) {
  static const std::regex declaration(R"re(\w\(\s*(?:app, )?"([a-z][a-z-]+)",\s*"[A-Z])re");
  const std::string operations = ReadDocument("docs/operations.md");
  std::size_t verbs = 0;
  for (const auto& file : ReadSourceTree()) {
    if (!file.path.starts_with("common/cli/verbs") && file.path != "common/cli/main.cc") continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), declaration), end; it != end; ++it) {
      ++verbs;
      const std::string verb = (*it)[1].str();
      EXPECT_TRUE(std::regex_search(operations, std::regex("`(?:ratchet )?" + verb + "[ `]")))
          << "docs/operations.md does not name the verb " << verb << " of " << file.path;
    }
  }
  EXPECT_GT(verbs, 25U);
}

// What is known of HBase is not forgotten.
TEST(Docs, EveryKnownFaultHasItsRow) {
  const std::string rules = ReadDocument("docs/procedure-rules.md");
  for (const char* fault : {"HBASE-19953", "HBASE-19756", "HBASE-19996", "HBASE-20973", "HBASE-20338", "HBASE-21354"}) {
    EXPECT_NE(rules.find(fault), std::string::npos) << fault;
  }
}

}  // namespace
}  // namespace ratchet::tidy
