// Checks what the documents state about tests, mutants, rules, metrics, exceptions and verbs against the code.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

std::string ReadDocument(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Lines without their indentation; empty lines and the marks of code blocks are left out.
std::vector<std::string> CodeLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty() && !line.starts_with("```")) lines.push_back(line);
  }
  return lines;
}

// The paragraphs and list items of a document, each as one line. A heading or a row of a table is one by itself.
std::vector<std::string> ReadParagraphs(const std::string& path) {
  std::vector<std::string> paragraphs;
  std::istringstream document(ReadDocument(path));
  bool open = false;
  for (std::string line; std::getline(document, line);) {
    const bool alone = line.starts_with('|') || line.starts_with('#');
    const bool begins = alone || !open || line.starts_with("* ");
    open = !alone && !line.empty();
    if (line.empty()) continue;
    if (begins) {
      paragraphs.push_back(line);
    } else {
      paragraphs.back() += " " + line;
    }
  }
  return paragraphs;
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

// Inside backticks: "Suite.Name", "Suite.*", "Suite.Prefix*", or "…Name" of the suite that the same paragraph named
// last. With `home`, a name alone is a test of that suite; without `home` such a name is ignored.
void ExpectTestsExist(const std::string& path, const std::string& home = {}) {
  static const std::regex mention(R"(`(?:([A-Z]\w*)\.|(…))?([A-Z]\w*\*?|\*)`)");
  std::size_t found = 0;
  for (const std::string& line : ReadParagraphs(path)) {
    std::string suite = home;
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) {
      const std::smatch& match = *it;
      if (match[1].matched) suite = match[1].str();
      if (!match[1].matched && !match[2].matched && (home.empty() || line.find('|') != 0)) continue;
      const std::string name = match[3].str();
      const std::string owner = match[1].matched || match[2].matched ? suite : home;
      ++found;
      EXPECT_TRUE(IsTest(owner, name)) << path << ": the test " << owner << "." << name << " does not exist";
    }
  }
  EXPECT_GT(found, 20U) << path << ": run from the root of the project";
}

// Inside backticks, in paragraphs with the word "mutant": "group.name", "group.*".
void ExpectMutantsExist(const std::string& path) {
  static const std::regex mention(R"(`([a-z]+\.(?:[a-z_]+|\*))`)");
  std::set<std::string> mutants;
  for (const std::string& line : MutantNames()) mutants.insert(line.substr(0, line.find(':')));
  for (const std::string& line : ReadParagraphs(path)) {
    if (line.find("mutant") == std::string::npos) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) {
      std::string name = (*it)[1].str();
      const bool group = name.ends_with('*');
      if (group) name.pop_back();
      const auto at = mutants.lower_bound(name);
      EXPECT_TRUE(at != mutants.end() && (group ? at->starts_with(name) : *at == name))
          << path << " names the mutant " << name << ", which does not exist";
    }
  }
}

std::size_t Columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Rows of tables, URLs and the output of programs (code blocks) cannot be split.
TEST(Docs, LinesStayShort) {
  std::size_t checked = 0;
  for (const auto& document : ReadDocuments()) {
    ++checked;
    bool code = false;
    for (std::size_t i = 0; i < document.lines.size(); ++i) {
      const std::string& line = document.lines[i];
      if (line.starts_with("```")) code = !code;
      if (code || line.starts_with('|') || line.find("http") != std::string::npos) continue;
      EXPECT_LE(Columns(line), 120U) << document.path << ":" << i + 1;
    }
    EXPECT_FALSE(code) << document.path << ": a code block has no end";
  }
  EXPECT_GT(checked, 40U) << "run from the root of the project";
}

// Each version has each of its headings once, and each entry is one line.
TEST(Docs, ChangeLogHasOneLineForEachEntryAndNoHeadingTwice) {
  static const std::set<std::string> kinds = {"### Added", "### Changed", "### Fixed", "### Removed", "### Breaking"};
  std::set<std::string> headings;
  std::string version;
  std::size_t entries = 0;
  std::istringstream document(ReadDocument("CHANGELOG.md"));
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("## ")) version = line;
    if (line.starts_with("### ")) {
      EXPECT_TRUE(kinds.contains(line)) << version << ": unknown heading '" << line << "'";
    }
    if (line.starts_with("##")) {
      EXPECT_TRUE(headings.insert(version + line).second) << version << ": '" << line << "' occurs twice";
    }
    entries += line.starts_with("* ") ? 1 : 0;
    EXPECT_FALSE(line.starts_with("  ")) << version << ": an entry has a second line: " << line;
    EXPECT_LE(Columns(line), 120U) << version << ": " << line;
  }
  EXPECT_GT(entries, 150U) << "run from the root of the project";
}

TEST(Docs, TestsOfTheSafetyRulesExist) {
  ExpectTestsExist("docs/safety-rules.md");
  ExpectMutantsExist("docs/safety-rules.md");
}

TEST(Docs, TestsOfTheHardCasesExist) {
  ExpectTestsExist("docs/hard-cases.md");
  ExpectMutantsExist("docs/hard-cases.md");
}

// The headings of the rules, "S<number> (short name)", in the order of the document.
std::vector<std::string> RuleHeadings() {
  static const std::regex heading(R"(^### (S\d+'? \([^()]+\))$)");
  std::vector<std::string> rules;
  for (const std::string& line : ReadParagraphs("docs/safety-rules.md")) {
    std::smatch match;
    if (std::regex_search(line, match, heading)) rules.push_back(match[1].str());
  }
  return rules;
}

std::string NumberOf(const std::string& rule) { return rule.substr(0, rule.find(' ')); }

// Each mutant is a switch that leaves one rule out, and a test must notice it.
TEST(Docs, EverySafetyRuleHasAMutant) {
  static const std::regex mention(R"(\bS\d+(?:'(?!\w))?)");
  std::set<std::string> broken;
  for (const std::string& line : MutantNames()) {
    for (std::sregex_iterator it(line.begin(), line.end(), mention), end; it != end; ++it) broken.insert(it->str());
  }
  const auto rules = RuleHeadings();
  EXPECT_GE(rules.size(), 111U) << "docs/safety-rules.md has lost a rule; run from the root of the project";
  for (const std::string& rule : rules) {
    EXPECT_TRUE(broken.contains(NumberOf(rule))) << rule << " needs a mutant (common/base/mutants.def)";
  }
}

TEST(Docs, SafetyRulesAreInTheOrderOfTheirNumbersAndNamesAreUnique) {
  std::set<std::string> names;
  int last = 0;
  for (const std::string& rule : RuleHeadings()) {
    const std::string number = NumberOf(rule);
    const bool variant = number.ends_with('\'');  // S9' (claim in root and store)
    const int value = std::stoi(number.substr(1));
    EXPECT_EQ(value > last, !variant) << rule << " is not in its place";
    last = value;
    EXPECT_TRUE(names.insert(rule.substr(rule.find('('))).second) << rule << ": another rule has this name";
  }
}

TEST(Docs, EverySafetyRuleHasOneTopicAndItsTests) {
  static const std::regex number(R"(\bS\d+(?:'(?!\w))?)");
  std::multiset<std::string> in_topics;
  std::set<std::string> tested;
  std::string rule;
  bool topics = false;
  for (const std::string& line : ReadParagraphs("docs/safety-rules.md")) {
    if (line.starts_with("| ")) {
      if (line == "| topic | rules |") topics = true;
      for (std::sregex_iterator it(line.begin(), line.end(), number), end; topics && it != end; ++it) {
        in_topics.insert(it->str());
      }
    } else if (!line.starts_with('|')) {
      topics = false;
    }
    if (line.starts_with("### S")) rule = NumberOf(line.substr(4));
    if (line.starts_with("*Tests:* ")) tested.insert(rule);
  }
  for (const std::string& heading : RuleHeadings()) {
    EXPECT_EQ(in_topics.count(NumberOf(heading)), 1U) << heading << " belongs into one row of the table of topics";
    EXPECT_TRUE(tested.contains(NumberOf(heading))) << heading << " has no paragraph '*Tests:*'";
  }
}

TEST(Docs, TestsOfTheMutantsExist) { ExpectTestsExist("docs/mutants.md"); }

TEST(Docs, TestsOfTheProcedureRulesExist) {
  ExpectTestsExist("docs/procedure-rules.md", "ExecutorTest");
  ExpectMutantsExist("docs/procedure-rules.md");
}

// The name of a metric is the first string of the call that begins its family.
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
      // "`..._total`" in a row abbreviates the same prefix.
      const std::string tail = name.starts_with("ratchet_store_") ? "`..." + name.substr(13) + "`" : name;
      EXPECT_TRUE(document.find(name) != std::string::npos || document.find(tail) != std::string::npos)
          << file.path << ": docs/metrics.md does not list " << name;
    }
  }
  EXPECT_GT(families, 60U);
}

// The exception classes that clients can receive, by their simple names.
TEST(Docs, EveryExceptionIsDocumented) {
  static const std::regex name(R"re("(?:org\.apache|java\.io)\.[a-z.]*([A-Z][A-Za-z]+)")re");
  const std::string document = ReadDocument("docs/exceptions.md");
  std::size_t classes = 0;
  for (const auto& file : ReadSourceTree()) {
    if (file.path != "common/base/exception_names.h") continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), name), end; it != end; ++it) {
      ++classes;
      EXPECT_NE(document.find((*it)[1].str()), std::string::npos)
          << file.path << ": docs/exceptions.md does not list " << (*it)[1];
    }
  }
  EXPECT_GT(classes, 50U);
}

// A verb of the command line is a call whose first two strings are a word and a sentence.
TEST(Docs, EveryVerbIsDocumented) {
  static const std::regex declaration(R"re((?:Plain|Verb<\w+>|AddVerb)\(\s*(?:app, )?"([a-z][a-z-]+)",\s*"[A-Z])re");
  const std::string operations = ReadDocument("docs/operations.md");
  std::size_t verbs = 0;
  for (const auto& file : ReadSourceTree()) {
    if (!file.path.starts_with("common/tools/cli/")) continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), declaration), end; it != end; ++it) {
      ++verbs;
      const std::string verb = (*it)[1].str();
      EXPECT_TRUE(std::regex_search(operations, std::regex("`(?:ratchet )?" + verb + "[ `]")))
          << "docs/operations.md does not name the verb " << verb << " of " << file.path;
    }
  }
  EXPECT_GE(verbs, 80U);
}

// Known faults of HBase's framework keep their row.
TEST(Docs, EveryKnownFaultHasItsRow) {
  const std::string rules = ReadDocument("docs/procedure-rules.md");
  for (const char* fault : {"HBASE-19953", "HBASE-19756", "HBASE-19996", "HBASE-20973", "HBASE-20338", "HBASE-21354"}) {
    EXPECT_NE(rules.find(fault), std::string::npos) << fault;
  }
}

// docs/example is compiled and run, so what it contains is correct.
TEST(Docs, ExampleOfTheProcedureReadmeIsPartOfTheCompiledOne) {
  std::set<std::string> compiled;
  for (const char* path : {"docs/example/site.h", "docs/example/site_control.cc"}) {
    for (std::string& line : CodeLines(ReadDocument(path))) compiled.insert(std::move(line));
  }
  const std::string page = ReadDocument("procedure/README.md");
  std::size_t shown = 0;
  for (auto begin = page.find("```cpp"); begin != std::string::npos; begin = page.find("```cpp", begin + 1)) {
    for (const std::string& line : CodeLines(page.substr(begin, page.find("\n```\n", begin) - begin))) {
      ++shown;
      EXPECT_TRUE(compiled.contains(line)) << "procedure/README.md shows what docs/example does not have: " << line;
    }
  }
  EXPECT_GT(shown, 20U);
}

}  // namespace
}  // namespace ratchet::tidy
