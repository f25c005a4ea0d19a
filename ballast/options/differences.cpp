#include "ballast/options/differences.h"

#include <fmt/format.h>

#include "ballast/options/writer.h"

namespace ballast {
namespace {

struct Pair {
  const void* first;
  const void* second;
};

class Comparison {
 public:
  void options(const TableSchema& table, Pair owners, const std::string& name) {
    for (const OptionSchema& option : table.options) {
      const Pair values{address_of(option, owners.first), address_of(option, owners.second)};
      compare(option.schema(), values, joined_name(name, option.name));
    }
  }

  std::vector<Difference> take() { return std::move(found_); }

 private:
  void compare(const Schema& schema, Pair values, const std::string& name) {
    const Overloaded compare_form{
        [&](const TableSchema& table) { options(table, values, name); },
        [&](const ChoiceSchema& choice) { compare_kinds(choice, values, name); },
        [&](const OptionalSchema& optional) {
          const Pair held{optional.held(values.first), optional.held(values.second)};
          if (held.first && held.second) return compare(optional.inner(), held, name);
          add(schema, values, name);
        },
        [&](const auto&) { add(schema, values, name); }};
    std::visit(compare_form, schema.form);
  }

  void compare_kinds(const ChoiceSchema& choice, Pair values, const std::string& name) {
    const KindSchema& first = choice.kinds[choice.index(values.first)];
    const KindSchema& second = choice.kinds[choice.index(values.second)];
    if (first.info.name == second.info.name) {
      return options(table_of(first.schema),
                     {choice.held(values.first), choice.held(values.second)}, name);
    }
    found_.push_back({name + ".kind", fmt::format("\"{}\"", first.info.name),
                      fmt::format("\"{}\"", second.info.name)});
  }

  void add(const Schema& schema, Pair values, const std::string& name) {
    std::string first = inline_text(schema, values.first);
    std::string second = inline_text(schema, values.second);
    if (first != second) found_.push_back({name, std::move(first), std::move(second)});
  }

  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> differences(const Schema& schema, const void* first, const void* second) {
  Comparison comparison;
  comparison.options(std::get<TableSchema>(schema.form), {first, second}, "");
  return comparison.take();
}

}  // namespace ballast
