// Places told ahead, in every interleaving: of deliveries in any order, and of the steps of two and three processes
// that call again and again with one buffer, or with several by turns. The model is the code that ships.
#include "fabric/place_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace kumihimo::fabric {
namespace {

// A message of a call, from one process to another.
struct ScriptedPlace {
  std::int32_t from = 0, to = 0;
  std::uint32_t segment = 0;
};
using ScriptedCall = std::vector<ScriptedPlace>;

struct ModelRules {
  std::vector<ScriptedCall> calls; // the same on all processes, one after the other
  std::vector<int> buffers;        // of each call
  std::int32_t processes = 2;
  std::size_t most_lists = 8; // of a receiver; beyond them the one unused longest is forgotten
  bool once = false;          // a list is forgotten after its call
  // What a broken implementation does.
  bool puts_before_opening = false, opens_used_list = false, forgets_open_list = false, opens_before_call = false;
};

struct OnItsWay {
  enum class Kind { open, forget, put } kind = Kind::put;
  std::int32_t from = 0, to = 0;
  std::uint64_t list = 0, instance = 0;
  std::vector<WirePlace> described;
  WirePlace place;
  auto words() const {
    return std::tuple(kind, from, to, list, instance, described.size(), place.address, place.number, place.segment);
  }
};

struct ModelProcess {
  PlaceLists lists;
  OpenedPlaces opened;
  std::size_t call = 0; // that runs, or comes next
  bool is_running = false;
  std::set<std::tuple<std::int32_t, std::uint32_t>> to_send, to_come; // peer, segment
  std::map<std::uint16_t, std::tuple<PlaceList*, std::uint64_t>>
      landings;                                                // by number: the list, the call it is open for
  std::map<std::uint64_t, std::vector<std::uint16_t>> numbers; // of each list
};

// One state: rebuilt from its moves, because lists are at fixed addresses.
class Model {
 public:
  explicit Model(const ModelRules& rules) : rules_(rules), all_(static_cast<std::size_t>(rules.processes)) {}

  std::size_t moves() const {
    std::size_t count = way_.size();
    for (std::int32_t p = 0; p < rules_.processes; ++p) count += own_moves(p).size();
    return count;
  }
  // Deliveries first, then the processes' own.
  void make(std::size_t move) {
    if (move < way_.size()) {
      OnItsWay message = way_[move];
      way_.erase(way_.begin() + static_cast<std::ptrdiff_t>(move));
      return deliver(message);
    }
    move -= way_.size();
    for (std::int32_t p = 0; p < rules_.processes; ++p) {
      const std::vector<std::function<void()>> own = own_moves(p);
      if (move < own.size()) return own[move]();
      move -= own.size();
    }
  }
  const std::string& wrong() const { return wrong_; }
  std::int64_t descriptions() const { return descriptions_; }
  void check_end() {
    for (const ModelProcess& p : all_) {
      if (p.call != rules_.calls.size()) wrong_ = "a process waits for ever";
      if (p.opened.is_open()) wrong_ = "an opening was not used up";
      if (p.lists.lists() > rules_.most_lists) wrong_ = "more lists than the limit";
      if (rules_.once && (p.lists.lists() > 0 || p.opened.lists() > 0)) wrong_ = "a list of one call is left";
    }
  }
  std::string key() const {
    std::string text;
    const auto add = [&](auto value) { text += std::to_string(value) + ","; };
    for (const ModelProcess& p : all_) {
      add(p.call), add(p.is_running);
      std::vector<std::uint64_t> words;
      p.lists.append_state(words);
      words.push_back(0);
      p.opened.append_state(words);
      for (const std::uint64_t word : words) add(word);
      text += "|";
      for (const auto& [peer, segment] : p.to_send) add(peer), add(segment);
      text += "|";
      for (const auto& [peer, segment] : p.to_come) add(peer), add(segment);
      text += "|";
      for (const auto& [number, landing] : p.landings) add(number), add(std::get<1>(landing));
      text += ";";
    }
    std::vector<std::string> ways;
    for (const OnItsWay& m : way_) {
      std::string one;
      std::apply([&](auto... word) { ((one += std::to_string(static_cast<std::uint64_t>(word)) + "."), ...); },
                 m.words());
      ways.push_back(one);
    }
    std::sort(ways.begin(), ways.end());
    for (const std::string& one : ways) text += one + " ";
    for (const auto& [message, place] : known_) add(place.address), add(place.number);
    return text;
  }

 private:
  ModelProcess& at(std::int32_t p) { return all_[static_cast<std::size_t>(p)]; }
  const ModelProcess& at(std::int32_t p) const { return all_[static_cast<std::size_t>(p)]; }
  static std::uint64_t instance_of(std::size_t call) { return call + 1; }

  std::vector<std::function<void()>> own_moves(std::int32_t p) const {
    std::vector<std::function<void()>> moves;
    auto* const self = const_cast<Model*>(this);
    const ModelProcess& process = at(p);
    if (!process.is_running) {
      if (process.call < rules_.calls.size()) moves.push_back([self, p] { self->begin(p); });
      return moves;
    }
    if (process.to_send.empty() && process.to_come.empty())
      moves.push_back([self, p] { self->at(p).is_running = false, ++self->at(p).call; });
    for (const auto& [peer, segment] : process.to_send)
      if (self->find_place(p, peer, segment, false))
        moves.push_back([self, p, peer = peer, segment = segment] { self->put(p, peer, segment); });
    return moves;
  }

  void begin(std::int32_t p) {
    ModelProcess& process = at(p);
    process.is_running = true;
    const ScriptedCall& call = rules_.calls[process.call];
    std::map<std::int32_t, std::vector<ExpectedPlace>> of_sender;
    for (const ScriptedPlace& each : call) {
      if (each.from == p) process.to_send.insert({each.to, each.segment});
      if (each.to != p) continue;
      process.to_come.insert({each.from, each.segment});
      of_sender[each.from].push_back(expected(each, rules_.buffers[process.call]));
    }
    for (const auto& [sender, places] : of_sender) open(p, sender, places, instance_of(process.call));
    if (!rules_.opens_before_call || process.call + 1 == rules_.calls.size()) return;
    for (const auto& [sender, places] : of_sender) open(p, sender, places, instance_of(process.call + 1));
  }
  static ExpectedPlace expected(const ScriptedPlace& each, int buffer) {
    static std::byte memory[64];
    return {0, 0, each.segment, memory + buffer * 16 + each.segment, 1, 1};
  }

  void open(std::int32_t p, std::int32_t sender, const std::vector<ExpectedPlace>& places, std::uint64_t instance) {
    ModelProcess& process = at(p);
    PlaceList* list = process.lists.find(sender, places);
    if (!list && rules_.opens_used_list && process.lists.lists() > 0) { // another buffer's, or one in use
      for (auto& [number, landing] : process.landings)
        if (std::get<0>(landing)->peer == sender && std::get<0>(landing)->places.size() == places.size())
          list = std::get<0>(landing);
    }
    OnItsWay message{OnItsWay::Kind::open, p, sender, 0, instance, {}, {}};
    if (!list) {
      while (process.lists.lists() >= rules_.most_lists) {
        PlaceList* const old = process.lists.oldest_unused();
        if (!old) break;
        way_.push_back({OnItsWay::Kind::forget, p, old->peer, old->number, 0, {}, {}});
        erase(process, *old);
      }
      list = &process.lists.add(sender, places);
      for (const ExpectedPlace& each : places) {
        const auto number = free_number(process);
        process.landings[number] = {list, 0};
        process.numbers[list->number].push_back(number);
        WirePlace wire;
        wire.bytes = 1, wire.segment = each.segment, wire.number = number;
        wire.address = static_cast<std::uint64_t>(each.target - static_cast<const std::byte*>(nullptr));
        message.described.push_back(wire);
      }
      ++descriptions_;
    }
    process.lists.open(*list);
    for (const std::uint16_t number : process.numbers[list->number]) {
      if (std::get<1>(process.landings[number]) != 0) wrong_ = "a place was opened twice";
      std::get<1>(process.landings[number]) = instance;
    }
    message.list = list->number;
    way_.push_back(message);
    if (rules_.forgets_open_list && list->is_described && instance > 1) {
      way_.push_back({OnItsWay::Kind::forget, p, sender, list->number, 0, {}, {}});
    }
  }
  static std::uint16_t free_number(const ModelProcess& process) {
    std::uint16_t number = 0;
    while (process.landings.contains(number)) ++number;
    return number;
  }
  void erase(ModelProcess& process, PlaceList& list) {
    for (const std::uint16_t number : process.numbers[list.number]) process.landings.erase(number);
    process.numbers.erase(list.number);
    process.lists.erase(list);
  }

  std::optional<WirePlace> find_place(std::int32_t p, std::int32_t peer, std::uint32_t segment, bool takes) {
    const WireKey key{peer, 0, false, 0, segment, instance_of(at(p).call)};
    if (const auto known = known_.find({p, peer, segment}); known != known_.end()) return known->second;
    if (takes) return at(p).opened.take(key);
    OpenedPlaces copy = at(p).opened;
    return copy.take(key);
  }
  void put(std::int32_t p, std::int32_t peer, std::uint32_t segment) {
    const std::optional<WirePlace> place = find_place(p, peer, segment, true);
    if (rules_.puts_before_opening) known_[{p, peer, segment}] = *place;
    at(p).to_send.erase({peer, segment});
    way_.push_back({OnItsWay::Kind::put, p, peer, 0, instance_of(at(p).call), {}, *place});
  }

  void deliver(const OnItsWay& message) {
    ModelProcess& to = at(message.to);
    switch (message.kind) {
    case OnItsWay::Kind::open:
      return to.opened.open(message.from, message.list, message.instance, message.described, rules_.once);
    case OnItsWay::Kind::forget: return to.opened.forget(message.from, message.list);
    case OnItsWay::Kind::put: break;
    }
    const auto landing = to.landings.find(message.place.number);
    if (landing == to.landings.end()) return void(wrong_ = "a put to a place that was forgotten");
    auto& [list, instance] = landing->second;
    const ScriptedPlace scripted{message.from, message.to, message.place.segment};
    if (!to.is_running || instance_of(to.call) != message.instance) return void(wrong_ = "a put outside its call");
    if (instance != message.instance) return void(wrong_ = "a put to a place that is not open for it");
    const ExpectedPlace right = expected(scripted, rules_.buffers[to.call]);
    if (message.place.address != static_cast<std::uint64_t>(right.target - static_cast<const std::byte*>(nullptr)))
      return void(wrong_ = "a put into another buffer");
    if (to.to_come.erase({message.from, message.place.segment}) != 1) return void(wrong_ = "a message came twice");
    instance = 0;
    PlaceLists::take(*list);
    if (rules_.once && list->open == 0) erase(to, *list);
  }

  const ModelRules& rules_;
  std::vector<ModelProcess> all_;
  std::vector<OnItsWay> way_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t>, WirePlace> known_;
  std::string wrong_;
  std::int64_t descriptions_ = 0;
};

class PlaceExplorer {
 public:
  explicit PlaceExplorer(const ModelRules& rules) : rules_(rules) {}
  // What is wrong in some interleaving; empty: nothing in any.
  std::string explore() {
    std::vector<std::size_t> path;
    visit(path);
    return wrong_;
  }
  std::string walk(unsigned seed) const {
    std::mt19937 random(seed);
    Model model(rules_);
    while (model.wrong().empty() && model.moves() > 0) model.make(random() % model.moves());
    if (model.wrong().empty()) model.check_end();
    return model.wrong();
  }
  std::size_t states() const { return seen_.size(); }
  std::int64_t most_descriptions() const { return most_descriptions_; }

 private:
  void visit(std::vector<std::size_t>& path) {
    Model model(rules_);
    for (const std::size_t move : path) model.make(move);
    if (!model.wrong().empty()) return void(wrong_ = model.wrong());
    if (!seen_.insert(model.key()).second) return;
    const std::size_t moves = model.moves();
    most_descriptions_ = std::max(most_descriptions_, model.descriptions());
    if (moves == 0) {
      model.check_end();
      wrong_ = model.wrong();
    }
    for (std::size_t move = 0; move < moves && wrong_.empty(); ++move) {
      path.push_back(move);
      visit(path);
      path.pop_back();
    }
  }

  ModelRules rules_;
  std::unordered_set<std::string> seen_;
  std::string wrong_;
  std::int64_t most_descriptions_ = 0;
};

const ScriptedCall both = {{0, 1, 0}, {0, 1, 1}, {1, 0, 0}};
const ScriptedCall round_of_three = {{0, 1, 0}, {1, 2, 0}, {2, 0, 0}};
const ScriptedCall to_one = {{0, 2, 0}, {1, 2, 0}};

ModelRules model_rules(const ScriptedCall& call, const std::vector<int>& buffers, std::int32_t processes) {
  ModelRules rules;
  rules.calls.assign(buffers.size(), call);
  rules.buffers = buffers;
  rules.processes = processes;
  return rules;
}

TEST(PlaceLists, Two_processes_in_every_interleaving) {
  for (const std::vector<int>& buffers : {std::vector<int>{0, 0, 0}, {0, 1, 0}, {0, 1, 1}})
    for (const bool once : {false, true})
      for (const std::size_t most : {1, 2, 8}) {
        ModelRules rules = model_rules(both, buffers, 2);
        rules.once = once;
        rules.most_lists = most;
        PlaceExplorer explorer(rules);
        ASSERT_EQ(explorer.explore(), "") << buffers[1] << buffers[2] << once << most;
        EXPECT_GT(explorer.states(), 100u);
      }
}

TEST(PlaceLists, Three_processes_in_every_interleaving) {
  for (const ScriptedCall& call : {round_of_three, to_one})
    for (const std::vector<int>& buffers : {std::vector<int>{0, 0}, {0, 1}})
      for (const bool once : {false, true}) {
        ModelRules rules = model_rules(call, buffers, 3);
        rules.once = once;
        rules.most_lists = call.size() == 2 ? 2 : 1; // both senders of process 2 have one
        PlaceExplorer explorer(rules);
        ASSERT_EQ(explorer.explore(), "") << call.size() << buffers[1] << once;
        EXPECT_GT(explorer.states(), 100u);
      }
}

TEST(PlaceLists, A_buffer_that_is_used_again_is_described_once) {
  PlaceExplorer again(model_rules({{0, 1, 0}}, {0, 0, 0, 0}, 2)), by_turns(model_rules({{0, 1, 0}}, {0, 1, 0, 1}, 2));
  EXPECT_EQ(again.explore(), "");
  EXPECT_EQ(again.most_descriptions(), 1);
  EXPECT_EQ(by_turns.explore(), "");
  EXPECT_EQ(by_turns.most_descriptions(), 2);
}

TEST(PlaceLists, Random_interleavings_of_five_processes) {
  std::mt19937 random(11);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    ModelRules rules;
    rules.processes = 5;
    for (int call = 0; call < 6; ++call) {
      std::set<std::tuple<std::int32_t, std::int32_t, std::uint32_t>> chosen;
      for (int i = 0; i < 8; ++i) {
        const auto from = static_cast<std::int32_t>(random() % 5), to = static_cast<std::int32_t>(random() % 5);
        if (from != to) chosen.insert({from, to, static_cast<std::uint32_t>(random() % 3)});
      }
      ScriptedCall& made = rules.calls.emplace_back();
      for (const auto& [from, to, segment] : chosen) made.push_back({from, to, segment});
      rules.buffers.push_back(static_cast<int>(random() % 3));
    }
    rules.most_lists = 4 + random() % 4;
    rules.once = random() % 4 == 0;
    ASSERT_EQ(PlaceExplorer(rules).walk(seed), "") << seed;
  }
}

// The model finds what a broken process does.
TEST(PlaceListsSabotage, Broken_protocols_are_found) {
  const ModelRules whole = model_rules(both, {0, 0, 1}, 2);
  EXPECT_EQ(PlaceExplorer(whole).explore(), "");
  using Switch = bool ModelRules::*;
  for (const auto& [name, broken] :
       {std::pair<const char*, Switch>{"puts before the opening", &ModelRules::puts_before_opening},
        {"a list of another buffer", &ModelRules::opens_used_list},
        {"an open list is forgotten", &ModelRules::forgets_open_list},
        {"opened before its call", &ModelRules::opens_before_call}}) {
    ModelRules rules = whole;
    rules.*broken = true;
    EXPECT_NE(PlaceExplorer(rules).explore(), "") << name;
  }
}

} // namespace
} // namespace kumihimo::fabric
