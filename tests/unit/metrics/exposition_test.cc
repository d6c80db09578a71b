#include "common/metrics/exposition.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/metrics/process_sample.h"
#include "tests/support/metrics_parser.h"

namespace ratchet::metrics {
namespace {

TEST(ExpositionTest, TheTextFollowsTheFormat) {
  MetricsText text;
  text.Counter("rpc_calls_total", "Calls by method.");
  text.Value(std::uint64_t{7}, {{"service", "A"}, {"method", "Get"}});
  text.Value(std::uint64_t{8}, {{"service", "A"}, {"method", "a\"b\\c\nd"}});
  text.Gauge("epoch", "Epoch of the active master.", 3);
  text.Histogram("sync_duration_seconds", "Syncs.");
  Latency latency;
  latency.Note(std::uint64_t{50});
  latency.Note(std::uint64_t{51});
  latency.Note(std::uint64_t{100'000'000});
  text.Durations(latency.Look());
  const std::string all = text.Take();
  EXPECT_THAT(all, ::testing::StartsWith("# HELP ratchet_rpc_calls_total Calls by method.\n"
                                         "# TYPE ratchet_rpc_calls_total counter\n"
                                         "ratchet_rpc_calls_total{service=\"A\",method=\"Get\"} 7\n"
                                         "ratchet_rpc_calls_total{service=\"A\",method=\"a\\\"b\\\\c\\nd\"} 8\n"
                                         "# HELP ratchet_epoch Epoch of the active master.\n"
                                         "# TYPE ratchet_epoch gauge\n"
                                         "ratchet_epoch 3\n"));
  const ParsedMetrics parsed = ParseMetrics(all);
  EXPECT_THAT(parsed.faults, ::testing::IsEmpty());
  EXPECT_EQ(parsed.Value("ratchet_rpc_calls_total", {{"service", "A"}, {"method", "a\"b\\c\nd"}}), 8);
  EXPECT_EQ(parsed.Value("ratchet_sync_duration_seconds_bucket", {{"le", "5e-05"}}), 1);
  EXPECT_EQ(parsed.Value("ratchet_sync_duration_seconds_bucket", {{"le", "0.0001"}}), 2);
  EXPECT_EQ(parsed.Value("ratchet_sync_duration_seconds_bucket", {{"le", "60"}}), 2);
  EXPECT_EQ(parsed.Value("ratchet_sync_duration_seconds_bucket", {{"le", "+Inf"}}), 3);
  EXPECT_EQ(parsed.Value("ratchet_sync_duration_seconds_count"), 3);
  EXPECT_DOUBLE_EQ(parsed.Value("ratchet_sync_duration_seconds_sum"), 100.000101);
}

TEST(ExpositionTest, WhatTheSystemKnowsOfTheProcessIsThere) {
  MetricsText text;
  AddProcess(text);
  const ParsedMetrics parsed = ParseMetrics(text.Take());
  EXPECT_THAT(parsed.faults, ::testing::IsEmpty());
  EXPECT_GT(parsed.Value("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(parsed.Value("process_threads"), 1);
  EXPECT_GE(parsed.Value("process_open_fds"), 3);
  EXPECT_GT(parsed.Value("process_max_fds"), parsed.Value("process_open_fds"));
  EXPECT_GT(parsed.Value("process_start_time_seconds"), 1.5e9);
}

// The parser that tests rely on finds errors.
TEST(ExpositionTest, TheParserOfTheTestsIsStrict) {
  const std::string head = "# HELP a_total A.\n# TYPE a_total counter\n";
  EXPECT_THAT(ParseMetrics(head + "a_total 1\n").faults, ::testing::IsEmpty());
  const std::vector<std::string> bad = {
      head + "a_total 1",
      head + "a_total x\n",
      head + "a_total\n",
      head + "a_total -1\n",
      head + "b 1\n",
      head + "a_total 1\na_total 2\n",
      head + "a_total{x=\"1} 1\n",
      head + "a_total{x=\"\\q\"} 1\n",
      head + head + "a_total 1\n",
      "# HELP a A.\n# TYPE a counter\na 1\n",
      "# HELP a_total A\n# TYPE a_total counter\na_total 1\n",
      "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
      "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_sum 1\nh_count 2\n",
  };
  for (const std::string& text : bad)
    EXPECT_THAT(ParseMetrics(text).faults, ::testing::Not(::testing::IsEmpty())) << text;
}

}  // namespace
}  // namespace ratchet::metrics
