#include "common/metrics/process_sample.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/descriptors.h"

namespace ratchet::metrics {
namespace {

// The numbers of /proc/self/stat after the name of the program, which may contain any character: field 3 is the first.
std::vector<double> StatFields() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream rest(text.substr(end + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields;
  for (double number = 0; rest >> number;) fields.push_back(number);
  return fields;
}

double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    if (word != "btime") continue;
    double seconds = 0;
    file >> seconds;
    return seconds;
  }
  return 0;
}

}  // namespace

void AddProcess(MetricsText& text) {
  const auto fields = StatFields();  // fields[i] is field i + 4 of proc(5)
  constexpr std::size_t kUserTime = 10, kSystemTime = 11, kThreads = 16, kStart = 18, kResident = 20;
  if (fields.size() > kResident) {
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    text.Counter("process_cpu_seconds_total", "Processor time of this process, in user and system mode.");
    text.Value((fields[kUserTime] + fields[kSystemTime]) / ticks);
    text.Gauge("process_resident_memory_bytes", "Memory of this process that is in use.",
               fields[kResident] * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    text.Gauge("process_threads", "Threads of this process.", fields[kThreads]);
    if (const double boot = BootTime(); boot > 0) {
      text.Gauge("process_start_time_seconds", "When this process began, in seconds since 1970.",
                 boot + fields[kStart] / ticks);
    }
  }
  const DescriptorUse use = DescriptorsInUse();
  text.Gauge("process_open_fds", "Files and connections that this process has open, at least.",
             static_cast<double>(use.used));
  text.Gauge("process_max_fds", "Files and connections that this process may have open.",
             static_cast<double>(use.limit));
}

}  // namespace ratchet::metrics
