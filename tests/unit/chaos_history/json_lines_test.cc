#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "chaos/history/json_lines.h"
#include "tests/unit/chaos_history/random_history.h"

namespace ratchet::chaos {
namespace {

TEST(JsonLinesTest, EveryHistorySurvivesTheRoundTrip) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng prng(seed);
  RandomHistoryShape shape;
  shape.operations = 500;
  History history = RandomHistory(shape, prng);
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  history.front().key = all_bytes;
  for (const auto& op : history) {
    const std::string line = ToJsonLine(op);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = FromJsonLine(line);
    ASSERT_TRUE(back.ok()) << line << ": " << back.error().ToString();
    EXPECT_EQ(ToJsonLine(*back), line);
    EXPECT_EQ(back->key, op.key);
    EXPECT_EQ(back->kind, op.kind);
    EXPECT_EQ(back->outcome, op.outcome);
    EXPECT_EQ(back->invoked_ns, op.invoked_ns);
    if (op.outcome == OperationOutcome::kOk && op.kind == OperationKind::kGet) {
      EXPECT_EQ(back->observed, op.observed);
    }
  }
}

TEST(JsonLinesTest, WritesTheDocumentedForm) {
  Operation op;
  op.client = 3;
  op.key = "r1/s";
  op.kind = OperationKind::kCheckAndPut;
  op.argument = "b\xff";
  op.invoked_ns = 10;
  op.returned_ns = 25;
  op.applied = true;
  EXPECT_EQ(ToJsonLine(op),
            "{\"client\":3,\"key\":\"r1/s\",\"op\":\"check-and-put\",\"value\":\"b\xc3\xbf\","
            "\"expected\":null,\"invoke\":10,\"return\":25,\"outcome\":\"ok\",\"applied\":true}");
}

TEST(JsonLinesTest, NamesTheFieldAndLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense", "not a JSON object"},
      {R"({"client":1,"op":"get","invoke":1,"return":2,"outcome":"ok","observed":null})", "\"key\""},
      {R"({"client":1,"key":"k","op":"fly","invoke":1,"return":2,"outcome":"ok"})", "\"op\""},
      {R"({"client":1,"key":"k","op":"get","invoke":1,"return":2,"outcome":"perhaps"})", "\"outcome\""},
      {R"({"client":1,"key":"k","op":"get","invoke":3,"return":2,"outcome":"ok","observed":null})", "\"return\""},
      {R"({"client":1,"key":"k","op":"get","invoke":1,"return":2,"outcome":"ok"})", "\"observed\""},
      {R"({"client":1,"key":"k","op":"put","invoke":1,"return":2,"outcome":"ok"})", "\"value\""},
      {R"({"client":-1,"key":"k","op":"get","invoke":1,"return":2,"outcome":"unknown"})", "\"client\""},
      {R"({"client":1,"key":"k","op":"check-and-delete","expected":"","invoke":1,"return":2,"outcome":"ok"})",
       "\"applied\""},
  };
  for (const auto& [line, named] : cases) {
    const auto operation = FromJsonLine(line);
    ASSERT_FALSE(operation.ok()) << line;
    EXPECT_NE(operation.error().message().find(named), std::string::npos) << operation.error().ToString();
  }
  const auto file = std::filesystem::temp_directory_path() / ("ratchet-history-" + std::to_string(getpid()));
  std::ofstream(file) << "# comment\n\n"
                      << R"({"client":1})"
                      << "\n";
  const auto history = ReadHistory(file);
  ASSERT_FALSE(history.ok());
  EXPECT_NE(history.error().message().find("line 3"), std::string::npos) << history.error().ToString();
  std::filesystem::remove(file);
  EXPECT_EQ(ReadHistory(file).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace ratchet::chaos
