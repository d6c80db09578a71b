#include "tests/support/metrics_parser.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace ratchet::metrics {
namespace {

bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':') return false;
  }
  return true;
}

class Parser {
 public:
  ParsedMetrics Parse(std::string_view text) {
    if (!text.empty() && text.back() != '\n') Fault("the text does not end with a newline");
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      if (line.starts_with("# ")) {
        Head(line);
      } else if (!line.empty()) {
        ReadSample(line);
      }
    }
    for (auto& [name, family] : parsed_.families) CheckFamily(name, family);
    return std::move(parsed_);
  }

 private:
  void Fault(const std::string& what) { parsed_.faults.push_back(fmt::format("line {}: {}", number_, what)); }

  void Head(const std::string& line) {
    std::istringstream words(line);
    std::string hash, kind, name, rest;
    words >> hash >> kind >> name;
    std::getline(words, rest);
    if (!rest.empty()) rest.erase(0, 1);
    if (!IsName(name)) return Fault("no name: " + line);
    if (kind == "HELP") {
      if (parsed_.families.contains(name)) return Fault(name + " comes twice");
      parsed_.families[name].help = rest;
      if (rest.empty() || !rest.ends_with('.')) Fault(name + ": its help is not a sentence");
      current_ = name;
    } else if (kind == "TYPE") {
      if (name != current_) return Fault(name + ": TYPE does not follow HELP");
      parsed_.families[name].type = rest;
      if (rest != "counter" && rest != "gauge" && rest != "histogram") Fault("type " + rest);
    } else {
      Fault("neither HELP nor TYPE: " + line);
    }
  }

  // {a="x",b="y"}
  bool Labels(std::string_view& rest, std::map<std::string, std::string>& labels) {
    rest.remove_prefix(1);
    while (!rest.empty() && rest.front() != '}') {
      const auto equals = rest.find("=\"");
      if (equals == std::string_view::npos) return false;
      const std::string name(rest.substr(0, equals));
      rest.remove_prefix(equals + 2);
      std::string value;
      while (!rest.empty() && rest.front() != '"') {
        if (rest.front() == '\\') {
          if (rest.size() < 2) return false;
          const char escaped = rest[1];
          if (escaped != '\\' && escaped != '"' && escaped != 'n') return false;
          value.push_back(escaped == 'n' ? '\n' : escaped);
          rest.remove_prefix(2);
        } else {
          value.push_back(rest.front());
          rest.remove_prefix(1);
        }
      }
      if (rest.empty() || !IsName(name) || !labels.emplace(name, value).second) return false;
      rest.remove_prefix(1);
      if (!rest.empty() && rest.front() == ',') rest.remove_prefix(1);
    }
    if (rest.empty()) return false;
    rest.remove_prefix(1);
    return true;
  }

  void ReadSample(std::string_view line) {
    Sample sample;
    std::string_view rest = line;
    const auto end = rest.find_first_of("{ ");
    if (end == std::string_view::npos) return Fault("no value: " + std::string(line));
    sample.name = std::string(rest.substr(0, end));
    rest.remove_prefix(end);
    if (!IsName(sample.name)) return Fault("no name: " + std::string(line));
    if (rest.front() == '{' && !Labels(rest, sample.labels)) return Fault("labels: " + std::string(line));
    if (rest.empty() || rest.front() != ' ') return Fault("no value: " + std::string(line));
    const std::string value(rest.substr(1));
    char* stopped = nullptr;
    sample.value = std::strtod(value.c_str(), &stopped);
    if (value.empty() || *stopped != '\0') return Fault("value: " + std::string(line));
    if (!sample.name.starts_with(current_)) return Fault(sample.name + " stands outside of its family");
    std::string key = sample.name;
    for (const auto& [label, content] : sample.labels) key += "\x01" + label + "\x02" + content;
    if (!seen_.insert(key).second) Fault("comes twice: " + std::string(line));
    parsed_.families[current_].samples.push_back(std::move(sample));
  }

  void CheckFamily(const std::string& name, const Family& family) {
    if ((family.type == "counter") != name.ends_with("_total")) Fault(name + ": a " + family.type);
    std::map<std::string, std::pair<double, double>> last;  // labels without le -> last end, last count
    for (const Sample& sample : family.samples) {
      const std::string suffix = sample.name.substr(name.size());
      const bool fits =
          family.type == "histogram" ? suffix == "_bucket" || suffix == "_sum" || suffix == "_count" : suffix.empty();
      if (!fits) Fault(sample.name + " is not a sample of a " + family.type);
      if (family.type == "counter" && sample.value < 0) Fault(name + " is negative");
      std::string series;
      for (const auto& [label, content] : sample.labels) {
        if (label != "le") series += label + "=" + content + ";";
      }
      if (suffix == "_bucket") CheckBucket(name, sample, last, series);
      if (suffix == "_count") {
        const auto& [end, count] = last[series];
        if (!std::isinf(end) || count != sample.value) Fault(name + ": the last bucket is not the count");
      }
    }
  }

  void CheckBucket(const std::string& name, const Sample& sample,
                   std::map<std::string, std::pair<double, double>>& last, const std::string& series) {
    const auto le = sample.labels.find("le");
    if (le == sample.labels.end()) return Fault(name + ": a bucket without an end");
    const double end = le->second == "+Inf" ? std::numeric_limits<double>::infinity() : std::atof(le->second.c_str());
    const auto before = last.find(series);
    if (before != last.end() && (end <= before->second.first || sample.value < before->second.second)) {
      Fault(name + ": buckets do not rise");
    }
    last[series] = {end, sample.value};
  }

  ParsedMetrics parsed_;
  std::string current_;
  std::set<std::string> seen_;
  int number_ = 0;
};

}  // namespace

double ParsedMetrics::Value(const std::string& name, const std::map<std::string, std::string>& labels) const {
  for (const auto& [family, content] : families) {
    if (!name.starts_with(family)) continue;
    for (const Sample& sample : content.samples) {
      if (sample.name == name && sample.labels == labels) return sample.value;
    }
  }
  return -1;
}

ParsedMetrics ParseMetrics(std::string_view text) { return Parser().Parse(text); }

}  // namespace ratchet::metrics
