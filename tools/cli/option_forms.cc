#include "tools/cli/option_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace relayvm::tools {
namespace {

// Of CLI::IsMember, which says "{a,b}" behind the type's name.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find(":{"), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
}

bool TakesValue(const CLI::Option& option) {
  return option.get_type_size() != 0 && !option.get_positional();
}

std::string FormOf(const CLI::Option& option) {
  if (!TakesValue(option)) return "";
  if (const auto choices = ChoicesOf(option); !choices.empty())
    return fmt::format("{}", fmt::join(choices, "|"));
  const std::string type = option.get_type_name();
  const std::string form = type.substr(0, type.find(':'));
  return form == "UINT" || form == "INT" || form == "FLOAT" ? "N" : form;
}

// Columns of the terminal that reads the help; 0: it is no terminal, and lines stay whole.
size_t TerminalWidth() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string Wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) out += ' ';
    column += word.size() + (column > 0 ? 1 : 0);
    out += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr size_t kLeast = 40;
    const size_t width = TerminalWidth(), column = get_column_width();
    std::string help = make_option_desc(option);
    if (width >= column + kLeast) help = Wrapped(help, column, width - column - 1);
    std::string name =
        fmt::format("  {}{}", make_option_name(option, is_positional), make_option_opts(option));
    name += name.size() >= column ? "\n" + std::string(column, ' ')
                                  : std::string(column - name.size(), ' ');
    return name + help + "\n";
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_name(true, false)
                         : fmt::format("{}", fmt::join(NamesOf(*option), ","));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string form = FormOf(*option);
    return form.empty() ? "" : " " + form;
  }
};

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string Quoted(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string OptionAsJson(const CLI::Option& option) {
  const std::vector<std::string> names =
      option.get_positional() ? std::vector{option.get_name(true, false)} : NamesOf(option);
  return fmt::format(
      R"({{"names": {}, "form": {}, "choices": {}, "repeats": {}, "required": {}, "help": {}}})",
      Quoted(names), Quoted(FormOf(option)), Quoted(ChoicesOf(option)),
      option.get_expected_max() > 1, option.get_required(), Quoted(option.get_description()));
}

}  // namespace

void ShowOptions(CLI::App& app, std::span<const OptionForm> forms) {
  app.formatter(std::make_shared<HelpFormatter>());
  for (const OptionForm& shown : forms) {
    CLI::Option* option = app.get_option_no_throw(shown.name);
    if (option == nullptr || option->get_group().empty()) continue;
    option->group(shown.group);
    if (shown.form != nullptr) option->type_name(shown.form);
  }
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    if (name == "O0") return {"-O0", "-O1", "-O2", "-O3"};  // one of four, spelled as compilers do
    names.push_back("--" + name);
  }
  return names;
}

std::string OptionsAsJson(const CLI::App& app) {
  std::vector<std::string> operands, groups;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->get_positional(); }))
    operands.push_back(OptionAsJson(*option));
  for (const std::string& group : app.get_groups()) {
    std::vector<std::string> options;
    for (const CLI::Option* option : app.get_options([&](const CLI::Option* o) {
           return !group.empty() && o->get_group() == group && o->nonpositional();
         }))
      options.push_back(OptionAsJson(*option));
    if (!options.empty())
      groups.push_back(fmt::format("  {{\"name\": {}, \"options\": [\n    {}]}}", Quoted(group),
                                   fmt::join(options, ",\n    ")));
  }
  return fmt::format(
      "{{\"tool\": {}, \"version\": \"{}\", \"description\": {},\n\"operands\": [{}],\n"
      "\"groups\": [\n{}],\n\"footer\": {}}}\n",
      Quoted(app.get_name()), RELAYVM_VERSION, Quoted(app.get_description()),
      fmt::join(operands, ", "), fmt::join(groups, ",\n"), Quoted(app.get_footer()));
}

}  // namespace relayvm::tools
