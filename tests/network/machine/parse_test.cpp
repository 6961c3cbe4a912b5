#include "machine/job.hpp"
#include "machine/numbers.hpp"
#include "sample.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kumihimo {
namespace {

Machine parsed(const Sample& sample) {
  auto machine = parse_machine(sample.text(), "small.toml");
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().sentence());
  return machine.ok() ? *machine : Machine{};
}

// The sentence names file and line and holds all the words; it is one line.
void expect_error(const Sample& sample, int line, std::initializer_list<const char*> words) {
  const auto machine = parse_machine(sample.text(), "dir/small.toml");
  ASSERT_FALSE(machine.ok()) << sample.text();
  EXPECT_EQ(machine.error().kind, Error::Kind::bad_input) << "the user's file is wrong";
  const std::string sentence = machine.error().sentence();
  EXPECT_TRUE(sentence.starts_with("dir/small.toml:" + std::to_string(line) + ": ")) << sentence;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  for (const char* word : words) EXPECT_NE(sentence.find(word), std::string::npos) << word << " in: " << sentence;
}

TEST(ParseMachine, ReadsEveryNumberWithItsSource) {
  const Machine machine = parsed(Sample());
  EXPECT_EQ(machine.name, "small");
  EXPECT_EQ(machine.summary, "a small torus");
  EXPECT_EQ(machine.family, Family::torus);
  EXPECT_EQ(machine.topology->nodes(), 24);
  EXPECT_EQ(machine.topology->name(), "torus 4x3x2");
  EXPECT_EQ(machine.network.link_bandwidth.value.value, 4e9);
  EXPECT_EQ(machine.network.link_bandwidth.provenance, Provenance::published);
  EXPECT_EQ(machine.network.link_bandwidth.source, "a paper");
  EXPECT_EQ(machine.network.link_peak.value.value, 5e9);
  EXPECT_EQ(machine.network.hop_latency.value.value, 100e-9);
  EXPECT_EQ(machine.network.engines.value, 4);
  EXPECT_EQ(machine.network.engine_bandwidth.provenance, Provenance::measured);
  EXPECT_EQ(machine.node.default_ranks_per_node.value, 2);
  EXPECT_EQ(machine.node.cores.value, 8);
  EXPECT_EQ(machine.node.memory.value.value, 16'000'000'000);
  EXPECT_EQ(machine.node.memory_bandwidth.value.value, 46e9);
  EXPECT_EQ(machine.node.reduction_rate.value.value, 6e9);
  EXPECT_EQ(machine.node.reduction_rate_scalar.value.value, 3e9);
  EXPECT_EQ(machine.node.shared_memory_bandwidth.value.value, 6e9);
  EXPECT_EQ(machine.node.shared_memory_latency.value.value, 1e-6);
  EXPECT_EQ(machine.software.message_cost.value.value, 2e-6);
  EXPECT_EQ(machine.software.relay_latency.value.value, 3e-6);
  EXPECT_EQ(machine.software.segment_bytes.value.value, 1 << 20);
  EXPECT_EQ(machine.software.segment_bytes.provenance, Provenance::assumed);
  EXPECT_FALSE(machine.offload);
  EXPECT_FALSE(machine.network.switch_bandwidth);
  EXPECT_FALSE(machine.node.last_level_cache);
}

TEST(ParseMachine, ParametersOfLogGopsAreOptional) {
  EXPECT_FALSE(parsed(Sample()).loggops);
  Sample some;
  some.append("[loggops]")
      .append("G = { value = \"0.15 ns\", measured = \"trains\" }")
      .append("g = { value = \"200 ns\", measured = \"trains\" }")
      .append("S = { value = \"4 KiB\", measured = \"late receives\" }");
  const Machine machine = parsed(some);
  ASSERT_TRUE(machine.loggops);
  EXPECT_EQ(machine.loggops->G->value.value, 0.15e-9);
  EXPECT_EQ(machine.loggops->g->value.value, 200e-9);
  EXPECT_EQ(machine.loggops->S->value.value, 4096);
  EXPECT_EQ(machine.loggops->S->provenance, Provenance::measured);
  EXPECT_FALSE(machine.loggops->L || machine.loggops->o || machine.loggops->O);
  EXPECT_NE(numbers_to_toml(machine).find("S = { value = \"4 KiB\", measured = \"late receives\" }"),
            std::string::npos);
  expect_error(Sample(some).append("l = { value = \"1 us\", measured = \"x\" }"), some.lines() + 1,
               {"'l'", "[loggops]"});
  expect_error(Sample(some).append("O = { value = \"0 ns\", measured = \"x\" }"), some.lines() + 1,
               {"loggops.O", "zero"});
}

TEST(ParseMachine, CopiesWithinANodeAreAllOrNone) {
  EXPECT_FALSE(parsed(Sample()).node.copies);
  const auto with = [](std::string_view left_out) {
    Sample some;
    some.append("[copies]");
    for (const char* time : {"send_cost", "streamed_latency", "processor_switch"})
      if (time != left_out) some.append(fmt::format("{} = {{ value = \"100 ns\", measured = \"m\" }}", time));
    for (const char* size : {"slot", "streamed_bytes", "core_cache"})
      if (size != left_out) some.append(fmt::format("{} = {{ value = \"64 KiB\", measured = \"m\" }}", size));
    for (const char* rate : {"copy", "stream", "sum"})
      for (const char* cache : {"core", "last_level", "memory"})
        some.append(fmt::format("{}_{} = {{ value = \"2 GB/s\", measured = \"m\" }}", rate, cache));
    some.append("copy_short = { value = \"1 GB/s\", measured = \"m\" }");
    return some;
  };
  const Machine machine = parsed(with(""));
  ASSERT_TRUE(machine.node.copies);
  EXPECT_EQ(machine.node.copies->slot.value.value, 65536);
  EXPECT_EQ(machine.node.copies->sum_last_level.value.value, 2e9);
  EXPECT_EQ(machine.node.copies->processor_switch.value.value, 100e-9);
  const Sample lacking = with("slot");
  expect_error(lacking, lacking.line("[copies]"), {"copies.slot"});
}

TEST(ParseMachine, InjectionIsAllEnginesUnlessTheFileSaysLess) {
  EXPECT_EQ(parsed(Sample()).network.injection_bandwidth.value.value, 20e9);
  EXPECT_EQ(parsed(Sample()).network.injection_bandwidth.provenance, Provenance::measured) << "as engine_bandwidth";
  EXPECT_FALSE(parsed(Sample()).network.injection_bandwidth.source.empty());
  const std::string line = "injection_bandwidth = { value = \"18 GB/s\", published = \"p\" }";
  EXPECT_EQ(parsed(Sample().insert_after("engines", line)).network.injection_bandwidth.value.value, 18e9);
}

TEST(ParseMachine, ReadsOptionalNumbers) {
  const Machine machine =
      parsed(Sample()
                 .insert_after("engines", "switch_bandwidth = { value = \"140 GB/s\", assumed = \"x\" }")
                 .insert_after("cores", "last_level_cache = { value = \"6 MiB\", assumed = \"x\" }")
                 .insert_after("cores", "flop_rate = { value = \"16 Gflop/s\", assumed = \"x\" }")
                 .append("[offload]")
                 .append("max_bytes = { value = \"8 B\", assumed = \"x\" }")
                 .append("base_latency = { value = \"1.5 us\", assumed = \"x\" }")
                 .append("stage_latency = { value = \"400 ns\", assumed = \"x\" }"));
  ASSERT_TRUE(machine.network.switch_bandwidth && machine.node.last_level_cache && machine.offload);
  EXPECT_EQ(machine.network.switch_bandwidth->value.value, 140e9);
  EXPECT_EQ(machine.node.last_level_cache->value.value, 6 << 20);
  ASSERT_TRUE(machine.node.flop_rate);
  EXPECT_EQ(machine.node.flop_rate->value.value, 16e9);
  EXPECT_EQ(machine.offload->max_bytes.value.value, 8);
  EXPECT_EQ(machine.offload->base_latency.value.value, 1.5e-6);
  EXPECT_EQ(machine.offload->stage_latency.value.value, 400e-9);
  EXPECT_FALSE(machine.offload->max_elements || machine.offload->integer_operations ||
               machine.offload->float_operations);
}

TEST(ParseMachine, CostsOfMessagesComeInPairs) {
  const std::string eager = "eager_bytes = { value = \"1 KiB\", assumed = \"x\" }",
                    rendezvous = "rendezvous_latency = { value = \"1 us\", assumed = \"x\" }",
                    peers = "eager_peers = { value = 8, assumed = \"x\" }",
                    beyond = "eager_bytes_beyond = { value = \"256 B\", assumed = \"x\" }";
  const auto with = [](const std::string& lines) { return Sample().insert_after("relay_latency", lines); };
  const int section = Sample().line("[software]");
  expect_error(with(eager), section, {"software.rendezvous_latency", "both eager_bytes and rendezvous_latency"});
  expect_error(with(eager + "\n" + rendezvous + "\n" + peers), section, {"software.eager_bytes_beyond", "both"});
  expect_error(with(peers + "\n" + beyond), section, {"software.eager_bytes", "eager_bytes_beyond needs it"});
  const std::string puts = "short_put_bytes = { value = \"32 B\", assumed = \"x\" }\n"
                           "short_put_latency = { value = \"1 us\", assumed = \"x\" }";
  expect_error(with(puts), section, {"software.put_setup", "short_put_bytes needs it"});
  EXPECT_TRUE(parsed(with(puts + "\nput_setup = { value = \"9 us\", assumed = \"x\" }")).software.short_put_bytes);
  const Machine machine = parsed(with(eager + "\n" + rendezvous + "\n" + peers + "\n" + beyond));
  EXPECT_EQ(machine.software.eager_peers->value, 8);
  EXPECT_EQ(machine.software.eager_bytes_beyond->value.value, 256);
}

Sample with_states() {
  return Sample()
      .append("[software.old]")
      .append("library = \"Open MPI\"")
      .append("version = \"4.1.6\"")
      .append("message_cost = { value = \"5 us\", measured = \"of the old one\" }")
      .append("[software.old.network]")
      .append("engines = { value = 2, measured = \"rails\" }")
      .append("[software.new]")
      .append("put_setup = { value = \"8 us\", measured = \"of the new one\" }");
}

TEST(ParseMachine, ASoftwareStateReplacesNumbers) {
  const std::string text = with_states().text();
  const Machine base = *parse_machine(text, "f"), old = *parse_machine(text, "f", "old");
  ASSERT_EQ(base.software_states.size(), 2U);
  EXPECT_EQ(base.software_state, "");
  EXPECT_EQ(base.software.message_cost.value.value, 2e-6);
  EXPECT_EQ(old.software_state, "old");
  EXPECT_EQ(old.software.message_cost.value.value, 5e-6);
  EXPECT_EQ(old.software.message_cost.source, "of the old one");
  EXPECT_EQ(old.network.engines.value, 2);
  EXPECT_EQ(old.software.relay_latency.value.value, 3e-6) << "as in [software]";
  EXPECT_EQ(old.software_states.back().library, "Open MPI") << "by name";
  EXPECT_TRUE(parse_machine(text, "f", "new")->software.put_setup);
  EXPECT_NE(to_text(old).find("old, in force"), std::string::npos);
}

TEST(ParseMachine, AFileNamesItsDefaultState) {
  Sample sample = with_states();
  sample.insert_after("summary", "default_software = \"old\"");
  EXPECT_EQ(parsed(sample).software_state, "old");
  EXPECT_EQ(parse_machine(sample.text(), "f", "new")->software_state, "new");
  EXPECT_EQ(parse_machine(sample.text(), "f", "base")->software_state, "");
}

TEST(ParseMachine, WrongStatesAreErrors) {
  Sample sample = with_states();
  expect_error(Sample(sample).insert_after("summary", "default_software = \"newer\""), 3,
               {"default_software", "'newer'", "use one of base, new, old"});
  Sample misspelt = with_states();
  misspelt.append("mesage_cost = { value = \"5 us\", measured = \"x\" }");
  expect_error(misspelt, misspelt.line("mesage_cost"), {"[software.new]", "'mesage_cost'"});
  Sample elsewhere = with_states();
  elsewhere.append("[software.new.network]").append("engine = { value = 2, measured = \"x\" }");
  expect_error(elsewhere, elsewhere.line("engine ="), {"[software.new.network]", "'engine'"});
  Sample bare = with_states();
  bare.insert_after("summary", "default_software = \"new\"").append("message_cost = 5");
  expect_error(bare, bare.line("message_cost = 5"), {"message_cost", "must be a number with its source"});
  Sample no_section = with_states();
  no_section.append("network = 4");
  expect_error(no_section, no_section.line("network = 4"),
               {"software.new.network must be a section", "got 4", "write [software.new.network]"});
  Sample deep = with_states();
  deep.append("[software.new.node]").append("cores = 4");
  expect_error(deep, deep.line("cores = 4"), {"software.new.node.cores must be a number with its source"});
  expect_error(Sample().append("[software.base]"), Sample().line("segment_bytes") + 1, {"must have another name"});
  const auto unknown = parse_machine(sample.text(), "f", "newer");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().sentence().find("use one of base, new, old"), std::string::npos);
  const auto none = parse_machine(Sample().text(), "f", "newer");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().sentence().find("add a section [software.NAME]"), std::string::npos);
}

Sample with_errors(const std::string& row) {
  return Sample()
      .append("[prediction_errors]")
      .append("source = \"jobs\"")
      .append("fewest_nodes = 8")
      .append("most_nodes = 512")
      .append("rows = [" + row + "]");
}

TEST(ParseMachine, ReadsErrorsOfPredictions) {
  const std::string row = "{ algorithms = \"trees\", lengths = \"short\", times = 24, low = 0.8, high = 1.3 }";
  const Machine machine = parsed(with_errors(row).append("day_to_day = 1.05"));
  ASSERT_TRUE(machine.prediction_errors);
  const PredictionErrors& errors = *machine.prediction_errors;
  EXPECT_EQ(errors.most_nodes, 512);
  EXPECT_EQ(errors.day_to_day, 1.05);
  ASSERT_EQ(errors.rows.size(), 1U);
  EXPECT_EQ(errors.rows[0].algorithms, "trees");
  EXPECT_EQ(errors.rows[0].low, 0.8);
  EXPECT_FALSE(parsed(Sample()).prediction_errors);
  const int line = with_errors(row).line("rows");
  expect_error(with_errors("{ algorithms = \"all\", lengths = \"all\", times = 24, low = 2.0, high = 1.3 }"), line,
               {"prediction_errors.low", "at most high"});
  expect_error(with_errors("{ algorithms = \"all\", lengths = \"all\", times = 24, low = 0, high = 1 }"), line,
               {"prediction_errors.low", "above 0"});
  expect_error(with_errors("{ algorithms = \"all\", lengths = \"all\", low = 1.0, high = 1.3 }"), line,
               {"prediction_errors.times is missing"});
  expect_error(with_errors("7"), line, {"prediction_errors.rows", "must be tables"});
  expect_error(with_errors("{ algorithms = \"tree\", lengths = \"all\", times = 9, low = 0.5, high = 2.0 }"), line,
               {"prediction_errors.algorithms must be a class", "'tree'", "trees"});
  expect_error(with_errors("{ algorithms = \"trees\", lengths = \"8 B\", times = 9, low = 0.5, high = 2.0 }"), line,
               {"prediction_errors.lengths must be a class", "'8 B'", "middle"});
  expect_error(with_errors("{ algorithms = \"all\", lengths = \"all\", times = 9, low = 0.5, median = 3, high = 2.0 }"),
               line, {"prediction_errors.median must be from low to high"});
  EXPECT_NEAR(errors.rows[0].median, std::sqrt(0.8 * 1.3), 1e-12) << "the file has none";
  EXPECT_EQ(parsed(with_errors("{ algorithms = \"all\", lengths = \"all\", times = 9, low = 0.5, median = 1.1, "
                               "high = 2.0 }"))
                .prediction_errors->rows[0]
                .median,
            1.1);
  expect_error(with_errors(row).append("day_to_day = 0.5"), line + 1, {"day_to_day", "at least 1"});
  for (const char* const value : {"nan", "inf", "0"})
    expect_error(with_errors(row).append(fmt::format("day_to_day = {}", value)), line + 1,
                 {"day_to_day must be a number above 0"});
  EXPECT_EQ(errors.correlation_in_class, 0) << "by default errors share nothing";
  const Machine sharing = parsed(with_errors(row).append("correlation = 0.2"));
  EXPECT_EQ(sharing.prediction_errors->correlation, 0.2);
  EXPECT_EQ(sharing.prediction_errors->correlation_in_class, 0.2) << "not less than that of different classes";
  expect_error(with_errors(row).append("correlation = 1"), line + 1, {"prediction_errors.correlation", "below 1"});
  expect_error(with_errors(row).append("correlation = 0.2").append("correlation_in_class = 0.1"), line + 2,
               {"prediction_errors.correlation_in_class", "from 0.2 to below 1"});
}

Sample with_collectives(const std::string& row) {
  return Sample().append("[library_collectives]").append("source = \"loops\"").append("rows = [" + row + "]");
}

TEST(ParseMachine, ReadsTimesOfTheLibrarysCollectives) {
  const Sample sample =
      with_collectives("{ collective = \"allreduce\", ranks = 2, nodes = 1, bytes = 8, time = \"1.5 us\" }, "
                       "{ collective = \"barrier\", ranks = 2, nodes = 1, bytes = 0, time = \"900 ns\" }");
  const Machine machine = parsed(sample);
  ASSERT_TRUE(machine.library_collectives);
  ASSERT_EQ(machine.library_collectives->rows.size(), 2U);
  EXPECT_EQ(machine.library_collectives->rows[0].time.value, 1.5e-6);
  EXPECT_EQ(machine.library_collectives->rows[1].bytes, 0);
  EXPECT_EQ(machine.library_collectives->rows[1].nodes, 1);
  EXPECT_NE(to_json(machine).find("\"library_collectives\""), std::string::npos);
  EXPECT_NE(to_text(machine).find("2 times of the MPI library's own"), std::string::npos);
  const int line = with_collectives("").line("rows");
  const auto wrong = [&](const std::string& row, std::initializer_list<const char*> words) {
    expect_error(with_collectives("{ " + row + " }"), line, words);
  };
  wrong("collective = \"sum\", ranks = 2, nodes = 1, bytes = 8, time = \"1 us\"",
        {"must name a collective", "got \"sum\""});
  wrong("collective = \"bcast\", ranks = 0, nodes = 1, bytes = 8, time = \"1 us\"",
        {"library_collectives.ranks", "above 0"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 1, bytes = -1, time = \"1 us\"",
        {"library_collectives.bytes", "0 or more"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 1, bytes = 8, time = \"1 B\"", {"library_collectives.time"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 1, bytes = 8", {"library_collectives.time is missing"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 1, time = \"1 us\"", {"library_collectives.bytes is missing", "write"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 1, byte = 8", {"'byte'"});
  wrong("collective = \"bcast\", ranks = 2, bytes = 8, time = \"1 us\"", 
        {"library_collectives.nodes is missing", "add to each row", "nodes = 1", "measure again"});
  wrong("collective = \"bcast\", ranks = 2, nodes = 3, bytes = 8, time = \"1 us\"", {"at most ranks", "got 3"});
  expect_error(with_collectives("7"), line, {"library_collectives.rows must be tables"});
}

TEST(ParseMachine, RegistrationIsOfPuts) {
  Sample sample;
  sample.append("[software.puts]").append("put_setup = { value = \"8 us\", assumed = \"x\" }");
  sample.append("register_bytes = { value = \"4 KiB\", assumed = \"x\" }");
  const auto lone = parse_machine(sample.text(), "f", "puts");
  ASSERT_FALSE(lone.ok());
  EXPECT_NE(lone.error().sentence().find("register_latency"), std::string::npos) << lone.error().sentence();
  sample.append("register_latency = { value = \"9 us\", assumed = \"x\" }");
  const auto both = parse_machine(sample.text(), "f", "puts");
  ASSERT_TRUE(both.ok()) << both.error().sentence();
  EXPECT_EQ(both->software.register_bytes->value.value, 4096);
}

TEST(ParseMachine, ErrorsAreThoseOfTheState) {
  const std::string row = "{ algorithms = \"all\", lengths = \"all\", times = 24, low = 0.8, high = 1.3 }";
  Sample sample = with_errors(row);
  sample.append("[software.new]").append("[software.newer.prediction_errors]").append("source = \"later jobs\"");
  sample.append("fewest_nodes = 2").append("most_nodes = 4").append("rows = [" + row + "]");
  EXPECT_FALSE(parse_machine(sample.text(), "f", "new")->prediction_errors) << "nobody has judged this state";
  const auto newer = parse_machine(sample.text(), "f", "newer");
  ASSERT_TRUE(newer.ok()) << newer.error().sentence();
  EXPECT_EQ(newer->prediction_errors->source, "later jobs");
}

TEST(ParseMachine, TimesOfTheLibrarysCollectivesAreOfNoState) {
  Sample sample = with_collectives("{ collective = \"barrier\", ranks = 2, nodes = 1, bytes = 0, time = \"900 ns\" }");
  sample.append("[software.new]");
  const auto state = parse_machine(sample.text(), "f", "new"), base = parse_machine(sample.text(), "f");
  ASSERT_TRUE(state.ok()) << state.error().sentence();
  EXPECT_FALSE(state->library_collectives) << "another library may take other times";
  ASSERT_TRUE(base.ok()) << base.error().sentence();
  EXPECT_TRUE(base->library_collectives);
}

TEST(Machine, SegmentsGrowWithTheRootOfTheLength) {
  Machine machine = parsed(Sample());
  EXPECT_EQ(machine.segment_bytes(Bytes{1000}).value, 1 << 20) << "the same for all";
  machine.software.segment_scale = Quantity<Bytes>{{512}};
  EXPECT_EQ(machine.segment_bytes(Bytes{128 << 10}).value, 8 << 10);
  EXPECT_EQ(machine.segment_bytes(Bytes{512 << 10}).value, 16 << 10);
  EXPECT_EQ(machine.segment_bytes(Bytes{std::int64_t{1} << 40}).value, 1 << 20) << "at most segment_bytes";
  EXPECT_EQ(machine.segment_bytes(Bytes{0}).value, 1);
}

TEST(ParseMachine, ReadsWhatAnEngineCombines) {
  const auto with = [](const char* operations) {
    return Sample()
        .append("[offload]")
        .append("max_bytes = { value = \"8 B\", assumed = \"x\" }")
        .append("max_elements = { value = 1, assumed = \"x\" }")
        .append("integer_operations = { value = " + std::string(operations) + ", published = \"p\" }")
        .append("base_latency = { value = \"1.5 us\", assumed = \"x\" }")
        .append("stage_latency = { value = \"400 ns\", assumed = \"x\" }");
  };
  const Machine machine = parsed(with("\"max sum bxor\""));
  ASSERT_TRUE(machine.offload && machine.offload->integer_operations && machine.offload->max_elements);
  const OperationSet known = machine.offload->integer_operations->value;
  EXPECT_TRUE(known.contains(Operation::sum) && known.contains(Operation::max) && known.contains(Operation::bxor));
  EXPECT_FALSE(known.contains(Operation::min) || known.contains(Operation::user));
  EXPECT_EQ(text_of(known), "sum max bxor");
  EXPECT_EQ(machine.offload->max_elements->value, 1);
  for (const char* wrong : {"\"\"", "\"sum,max\"", "\"sum sum\"", "\"user\"", "\"sum \"", "\"sums\""})
    expect_error(with(wrong), Sample().lines() + 4, {"offload.integer_operations", "sum max"});
  expect_error(with("3"), Sample().lines() + 4, {"offload.integer_operations", "must be a string"});
}

TEST(ParseMachine, NamesTheLineThatIsNotToml) {
  expect_error(Sample().replace("engines", "engines = = 4"), Sample().line("engines"), {"not TOML"});
  expect_error(Sample().replace("cores", "cores = { value = 8"), Sample().line("cores"), {"not TOML"});
  expect_error(Sample().insert_after("cores", "cores = { value = 8, published = \"p\" }"), Sample().line("cores") + 1,
               {"not TOML", "cores"});
  EXPECT_FALSE(parse_machine("", "empty.toml").ok());
  EXPECT_FALSE(parse_machine(std::string("\0\xff\xfe", 3), "binary.toml").ok());
}

TEST(ParseMachine, NamesTheLineOfAWrongUnit) {
  const std::string rate = "link_bandwidth", wrong = "link_bandwidth = { value = ";
  const int line = Sample().line(rate);
  for (const char* value : {"\"4 Gb/s\"", "\"4 GB\"", "\"4\"", "\"fast\"", "\"\"", "\"0 GB/s\"", "\"-4 GB/s\""})
    expect_error(Sample().replace(rate, wrong + value + ", published = \"p\" }"), line,
                 {"network.link_bandwidth", "is not a rate", value, "GB/s"});
  expect_error(Sample().replace("hop_latency", "hop_latency = { value = \"5 GB/s\", assumed = \"x\" }"),
               Sample().line("hop_latency"), {"network.hop_latency", "is not a time", "ns"});
  expect_error(Sample().replace("memory =", "memory = { value = \"5 GB/s\", assumed = \"x\" }"),
               Sample().line("memory ="), {"node.memory", "is not a size", "MiB"});
}

TEST(ParseMachine, NamesTheLineOfAWrongType) {
  const auto with = [](const char* text) { return Sample().replace("link_bandwidth", text); };
  const int line = Sample().line("link_bandwidth");
  expect_error(with("link_bandwidth = \"4 GB/s\""), line, {"with its source", "got \"4 GB/s\"", "published"});
  expect_error(with("link_bandwidth = 4e9"), line, {"with its source"});
  expect_error(with("link_bandwidth = { value = 4e9, published = \"p\" }"), line, {"string with a unit", "4000000000"});
  expect_error(with("link_bandwidth = { value = true, published = \"p\" }"), line, {"string with a unit", "true"});
  expect_error(with("link_bandwidth = { value = [\"4 GB/s\"], published = \"p\" }"), line, {"an array"});
  expect_error(with("link_bandwidth = { value = {}, published = \"p\" }"), line, {"a table"});
  expect_error(with("link_bandwidth = { value = 1979-05-27, published = \"p\" }"), line, {"a date"});
  for (const char* value : {"0", "-4", "\"4\"", "4.0", "2147483648", "true"})
    expect_error(Sample().replace("engines", "engines = { value = " + std::string(value) + ", published = \"p\" }"),
                 Sample().line("engines"), {"network.engines", "whole number", "write engines = { value = 4"});
}

TEST(ParseMachine, WantsExactlyOneSource) {
  const auto with = [](const char* rest) {
    return Sample().replace("cores", "cores = { value = 8" + std::string(rest) + " }");
  };
  const int line = Sample().line("cores");
  expect_error(with(""), line, {"node.cores", "exactly one of published, measured, fitted and assumed", "0 of them"});
  expect_error(with(", published = \"p\", assumed = \"a\""), line, {"exactly one", "2 of them"});
  expect_error(with(", published = \"\""), line, {"a string that is not empty"});
  expect_error(with(", published = 2012"), line, {"a string that is not empty", "2012"});
  expect_error(with(", source = \"p\""), line, {"'source'", "assumed, fitted, measured, published, value"});
  expect_error(Sample().replace("cores", "cores = { published = \"p\" }"), line, {"node.cores.value is missing"});
}

TEST(ParseMachine, AFittedNumberSaysToWhat) {
  const Machine machine = parsed(Sample().replace("cores", "cores = { value = 8, fitted = \"9 times\" }"));
  EXPECT_EQ(machine.node.cores.provenance, Provenance::fitted);
  EXPECT_EQ(machine.node.cores.source, "9 times");
  EXPECT_NE(numbers_to_toml(machine).find("cores = { value = 8, fitted = \"9 times\" }"), std::string::npos);
  EXPECT_NE(to_text(machine).find("8  fitted"), std::string::npos);
}

TEST(ParseMachine, ARendezvousHasALengthAndALatency) {
  const char* eager = "eager_bytes = { value = \"16 KiB\", assumed = \"a\" }";
  const char* rendezvous = "rendezvous_latency = { value = \"5 us\", assumed = \"a\" }";
  const Machine machine = parsed(Sample().append(eager).append(rendezvous));
  EXPECT_EQ(machine.software.eager_bytes->value.value, 16 << 10);
  EXPECT_EQ(machine.software.rendezvous_latency->value.value, 5e-6);
  EXPECT_FALSE(parsed(Sample()).software.eager_bytes);
  const int line = Sample().line("[software]");
  expect_error(Sample().append(eager), line, {"software.rendezvous_latency is missing", "or none of them"});
  expect_error(Sample().append(rendezvous), line, {"software.eager_bytes is missing", "or none of them"});
}

TEST(ParseMachine, NumbersThatBelongTogetherAreGivenTogether) {
  struct Pair {
    const char *section, *size, *rate;
  };
  for (const Pair& pair :
       {Pair{"network", "exchange_bytes", "exchange_bandwidth"},
        Pair{"node", "cached_bytes", "reduction_rate_uncached"}, Pair{"node", "scratch_kept", "scratch_rate"}}) {
    const std::string header = std::string("[") + pair.section + "]";
    const std::string size = std::string(pair.size) + " = { value = \"1 MiB\", assumed = \"a\" }";
    const std::string rate = std::string(pair.rate) + " = { value = \"1 GB/s\", assumed = \"a\" }";
    const auto with = [&](const std::string& lines) { return Sample().replace(header, header + "\n" + lines); };
    const int line = Sample().line(header);
    expect_error(with(size), line, {pair.rate, "is missing", "or none of them"});
    expect_error(with(rate), line, {pair.size, "is missing", "or none of them"});
    EXPECT_NE(numbers_to_toml(parsed(with(size + "\n" + rate))).find(pair.rate), std::string::npos);
  }
}

TEST(ParseMachine, NamesWhatIsMissing) {
  for (const char* key : {"link_bandwidth", "link_peak", "hop_latency", "engines", "engine_bandwidth"})
    expect_error(Sample().remove(key), Sample().line("[network]"), {"network.", key, "is missing"});
  for (const char* key : {"ranks_per_node", "cores", "memory =", "memory_bandwidth", "reduction_rate =",
                          "reduction_rate_scalar", "shared_memory_bandwidth", "shared_memory_latency"})
    expect_error(Sample().remove(key), Sample().line("[node]"), {"node.", "is missing"});
  for (const char* key : {"message_cost", "relay_latency", "segment_bytes"})
    expect_error(Sample().remove(key), Sample().line("[software]"), {"software.", key, "is missing"});
  expect_error(Sample().remove("name"), 1, {"name", "is missing", "my-machine"});
  expect_error(Sample().remove("summary"), 1, {"summary", "is missing"});
  expect_error(Sample().remove("shape"), Sample().line("[topology]"), {"topology.shape", "is missing", "48x54x32"});
  expect_error(Sample().remove("family"), Sample().line("[topology]"), {"topology.family", "is missing"});
  expect_error(Sample().append("[offload]"), Sample().lines() + 1, {"offload.max_bytes", "is missing"});
}

TEST(ParseMachine, NamesAMissingSection) {
  const std::string head = "name = \"x\"\nsummary = \"y\"\n";
  const auto no_topology = parse_machine(head, "f.toml");
  ASSERT_FALSE(no_topology.ok());
  EXPECT_NE(no_topology.error().sentence().find("write [topology]"), std::string::npos);
  const auto no_network = parse_machine(head + "[topology]\nfamily = \"torus\"\nshape = \"4\"\n", "f.toml");
  ASSERT_FALSE(no_network.ok());
  EXPECT_NE(no_network.error().sentence().find("write [network]"), std::string::npos);
  EXPECT_FALSE(
      parse_machine("network = 3\n" + head + "[topology]\nfamily = \"torus\"\nshape = \"4\"\n", "f.toml").ok());
}

TEST(ParseMachine, RefusesUnknownKeys) {
  expect_error(Sample().replace("hop_latency", "hop_latncy = { value = \"1 ns\", assumed = \"x\" }"),
               Sample().line("hop_latency"), {"'hop_latncy'", "hop_latency"});
  expect_error(Sample().insert_after("summary", "nodes = 3"), 3, {"'nodes'", "topology"});
  expect_error(Sample().insert_after("family", "shapes = \"3\""), 5, {"'shapes'", "shape"});
  expect_error(Sample().append("[netwrk]"), Sample().lines() + 1, {"'netwrk'", "network"});
}

TEST(ParseMachine, ChecksTheTopology) {
  expect_error(Sample().replace("family", "family = \"taurus\""), 4, {"topology.family", "taurus", "single_node"});
  for (const char* shape : {"", "4x", "0x3", "-1", "4x3.5", "99999x99999x99999", "4 x 3", "torus"})
    expect_error(Sample().replace("shape", "shape = \"" + std::string(shape) + "\""), 5, {"topology.shape"});
  expect_error(Sample().replace("shape", "shape = 12"), 5, {"topology.shape", "12"});
}

TEST(ParseMachine, RefusesNumbersThatContradictEachOther) {
  expect_error(Sample().replace("link_bandwidth", "link_bandwidth = { value = \"6 GB/s\", published = \"p\" }"),
               Sample().line("link_bandwidth"), {"link_bandwidth", "at most link_peak, 5 GB/s", "6 GB/s"});
  expect_error(Sample().insert_after("engines", "injection_bandwidth = { value = \"20.1 GB/s\", published = \"p\" }"),
               Sample().line("engines") + 1,
               {"injection_bandwidth", "engines x engine_bandwidth, 20 GB/s", "20.1 GB/s"});
  expect_error(
      Sample().replace("reduction_rate_scalar", "reduction_rate_scalar = { value = \"7 GB/s\", assumed = \"x\" }"),
      Sample().line("reduction_rate_scalar"), {"reduction_rate_scalar", "at most reduction_rate, 6 GB/s"});
  expect_error(Sample().replace("ranks_per_node", "ranks_per_node = { value = 2147483647, assumed = \"x\" }"),
               Sample().line("ranks_per_node"), {"ranks_per_node", "2^31-1 ranks"});
}

TEST(ParseMachine, ReadsSlowParts) {
  const Machine machine = parsed(Sample()
                                     .append("[[slow_node]]\nnode = 17\nfactor = 0.5")
                                     .append("[[slow_node]]\nnode = 0\nfactor = 1")
                                     .append("[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.25"));
  ASSERT_EQ(machine.slow_nodes.size(), 2u);
  EXPECT_EQ(machine.node_factor(NodeId{17}), 0.5);
  EXPECT_EQ(machine.node_factor(NodeId{16}), 1);
  ASSERT_EQ(machine.slow_links.size(), 1u);
  const LinkId slow = machine.slow_links[0].link;
  EXPECT_EQ(machine.topology->describe(slow).from, NodeId{0});
  EXPECT_EQ(machine.topology->describe(slow).to, NodeId{1});
  int slowed = 0;
  for (std::int64_t id = 0; id < machine.topology->link_bound(); ++id) slowed += machine.link_factor(LinkId{id}) != 1;
  EXPECT_EQ(slowed, 1) << "one direction of one cable";
  EXPECT_EQ(machine.link_factor(slow), 0.25);
}

TEST(ParseMachine, ChecksSlowParts) {
  const int last = Sample().lines();
  const auto part = [](const std::string& text) { return Sample().append(text); };
  expect_error(part("[[slow_node]]\nnode = 24\nfactor = 0.5"), last + 2, {"slow_node.node", "0 to 23", "24"});
  expect_error(part("[[slow_node]]\nnode = -1\nfactor = 0.5"), last + 2, {"slow_node.node", "-1"});
  expect_error(part("[[slow_node]]\nnode = \"3\"\nfactor = 0.5"), last + 2, {"slow_node.node", "\"3\""});
  expect_error(part("[[slow_node]]\nfactor = 0.5"), last + 1, {"slow_node.node", "is missing"});
  for (const char* factor : {"0", "-0.5", "1.5", "inf", "nan", "\"half\""})
    expect_error(part("[[slow_node]]\nnode = 3\nfactor = " + std::string(factor)), last + 3,
                 {"slow_node.factor", "above 0 and at most 1"});
  expect_error(part("[[slow_node]]\nnode = 3"), last + 1, {"slow_node.factor", "is missing"});
  expect_error(part("[[slow_node]]\nnode = 3\nfactor = 0.5\nrate = 3"), last + 4, {"'rate'"});
  expect_error(part("[[slow_node]]\nnode = 3\nfactor = 0.5\n[[slow_node]]\nnode = 3\nfactor = 0.6"), last + 4,
               {"node 3 twice"});
  expect_error(part("[slow_node]\nnode = 3\nfactor = 0.5"), last + 1, {"slow_node", "write [[slow_node]]"});
  expect_error(part("[[slow_link]]\nfrom = 0\nto = 5\nfactor = 0.5"), last + 1, {"neighbours", "node 0 to node 5"});
  expect_error(part("[[slow_link]]\nfrom = 4\nto = 4\nfactor = 0.5"), last + 1, {"neighbours"});
  expect_error(part("[[slow_link]]\nfrom = 4\nfactor = 0.5"), last + 1, {"slow_link.to", "is missing"});
  expect_error(part("[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.5\n[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.5"),
               last + 5, {"twice"});
}

TEST(ParseMachine, ASingleNodeHasNoNetwork) {
  Sample sample;
  sample.replace("family", "family = \"single_node\"").remove("shape");
  for (const char* key : {"[network]", "link_bandwidth", "link_peak", "hop_latency", "engines", "engine_bandwidth"})
    sample.remove(key);
  const Machine machine = parsed(sample);
  EXPECT_EQ(machine.topology->nodes(), 1);
  EXPECT_EQ(Job(machine).rank_space().name(), "node of 2 ranks");
  expect_error(Sample().replace("family", "family = \"single_node\"").remove("shape"), 5, {"'network'", "single_node"});
  expect_error(Sample(sample).insert_after("family", "shape = \"3\""), 5, {"'shape'", "single_node"});
  expect_error(Sample(sample).append("[[slow_link]]\nfrom = 0\nto = 0\nfactor = 0.5"), sample.lines() + 1,
               {"'slow_link'"});
}

// No file, however broken, ends in anything but a machine or one sentence that names the file.
TEST(ParseMachine, SurvivesSabotage) {
  const std::string whole = Sample().append("[[slow_node]]\nnode = 3\nfactor = 0.5").text();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 3); edits-- > 0;) {
      const std::size_t at = random() % text.size();
      if (random() % 2)
        text.erase(at, 1 + random() % 8);
      else
        text.insert(at, 1, "\"=[]{}.,\n#x0-9\\\x01\xff"[random() % 18]);
    }
    const auto machine = parse_machine(text, "sabotage.toml");
    if (machine.ok()) continue;
    ++refused;
    ASSERT_TRUE(machine.error().sentence().starts_with("sabotage.toml:")) << machine.error().sentence();
  }
  EXPECT_GT(refused, 1500);
}

} // namespace
} // namespace kumihimo
