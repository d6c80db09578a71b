// Prints results: aligned tables for people, or JSON for programs. One command prints one table or one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ratchet::cli {

// A length of time: "1.5 s" for people; in JSON a number, and its name ends in "_ms".
struct Span {
  std::int64_t ms = 0;
};
// A number stays a number in JSON; null is printed as "-" for people. A list is an array in JSON; people get its
// members in one line, "none" when there are none.
using Field = std::variant<std::monostate, std::string, std::int64_t, bool, Span, std::vector<std::string>, double>;
[[nodiscard]] inline Field Number(std::uint64_t value) { return static_cast<std::int64_t>(value); }
// Null if the text is empty.
[[nodiscard]] inline Field TextOrNull(const std::string& text) { return text.empty() ? Field() : Field(text); }

// A terminal's style: colours, and its width. Empty if the output is written elsewhere.
struct Look {
  bool colour = false;
  std::size_t width = 0;  // columns; 0: lines are not cut
  // The style of standard output. Colours only on a terminal that has them, and not with NO_COLOR.
  [[nodiscard]] static Look OfStandardOutput();
};

// Part of a document: for people a title and a table, in JSON an array under `name`.
struct Section {
  std::string name;
  std::string title;  // empty: none
  std::vector<std::string> headers;
  std::vector<std::vector<Field>> rows;
};

// The output of a command, for a program within the process instead of standard output. JSON.
struct Printed {
  std::string text;
  // The range of the table's rows (Table and RowStream) that is printed.
  std::uint64_t offset = 0;
  std::uint64_t limit = UINT64_MAX;
  std::optional<std::uint64_t> total;  // number of rows in the whole table; nullopt: the command printed no table
};

class Printer {
 public:
  explicit Printer(bool json, Look look = {}) : json_(json), look_(look) {}
  explicit Printer(Printed& into) : json_(true), into_(&into) {}  // must outlive this object
  // Null: standard output.
  [[nodiscard]] Printed* into() const { return into_; }
  [[nodiscard]] bool json() const { return json_; }
  [[nodiscard]] const Look& look() const { return look_; }

  // JSON: an array of objects with the lower-cased headers as names ("OPEN SEQ" -> "open_seq"). `with_header`: false
  // for further rows of a table that continues. `cut`: a terminal's lines end at its edge.
  void Table(const std::vector<std::string>& headers, const std::vector<std::vector<Field>>& rows,
             bool with_header = true, bool cut = false) const;
  // JSON: one object with the same naming. People: "name: value" lines.
  void Object(const std::vector<std::pair<std::string, Field>>& fields) const;
  // JSON: one object, with an array for each section; for people the fields (if any), then the sections.
  void Document(const std::vector<std::pair<std::string, Field>>& fields, const std::vector<Section>& sections) const;
  // A line for people only, e.g. "34924 rows in 3.1 s". Not printed in JSON mode.
  void Note(const std::string& line) const;

 private:
  void Put(const std::string& line) const;

  const bool json_;
  const Look look_{};
  Printed* const into_ = nullptr;
};

// Rows of a table that are printed as they come, in bounded memory: the first few set the widths. JSON: one array.
class RowStream {
 public:
  RowStream(const Printer& printer, std::vector<std::string> headers)
      : printer_(printer), headers_(std::move(headers)) {}
  // Returns false if the reader of standard output has gone.
  [[nodiscard]] bool Add(std::vector<std::vector<Field>> rows);
  // Writes the rows that are kept back; called before a pause. False as above.
  bool Flush();
  // Call after the last row. Prints an empty table if there was none. `failed`: prints nothing then, because an error
  // follows.
  void End(bool failed = false);

 private:
  void Begin();
  void Append(const std::vector<Field>& row);

  const Printer& printer_;
  const std::vector<std::string> headers_;
  std::vector<std::vector<Field>> first_;
  std::vector<std::size_t> widths_;
  std::string text_;
  bool begun_ = false;
  bool any_ = false;
  std::uint64_t count_ = 0;
};

// The format of one field and of one line.
[[nodiscard]] std::string FieldText(const Field& field);
// Columns that a terminal needs for UTF-8 text, one a code point.
[[nodiscard]] std::size_t TextWidth(const std::string& text);
// One line of a table, without its end; `header`: bold, with colours.
[[nodiscard]] std::string TableLine(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                                    const Look& look, bool header);
// One row as a JSON object.
[[nodiscard]] std::string JsonText(const std::vector<std::string>& headers, const std::vector<Field>& row);

// At most `columns` columns, the last of them "…" where text is left out; 0: the whole text.
[[nodiscard]] std::string Shortened(const std::string& text, std::size_t columns);

// "1.5 s", "320 ms", "2 min 3 s"
[[nodiscard]] std::string DurationText(std::int64_t ms);
// "2026-01-31 12:30:45.123" in UTC.
[[nodiscard]] std::string TimeText(std::int64_t wall_ms);

}  // namespace ratchet::cli
