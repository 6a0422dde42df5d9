#include "kernels/codegen/function_merging.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernels/codegen/object_cache.h"

namespace relayvm::codegen {
namespace {

// A call of the body, its table and what the translation of any function costs come to this.
constexpr size_t kLeastInstructions = 80;
// What loops count to below this they may be unrolled by.
constexpr int64_t kLeastCount = 9;
// What an innermost loop may read of the table: they are registers there.
constexpr size_t kMostInLoop = 6;

// The helper that the instruction calls; null: nothing, or what the body calls by its name.
const llvm::Function* HelperOf(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr || callee->isIntrinsic() || !call->getType()->isVoidTy() ||
      callee->hasFnAttribute(llvm::Attribute::AlwaysInline) ||
      callee->getCallingConv() != llvm::CallingConv::C) {
    return nullptr;
  }
  return callee;
}

// Of each loop the loops in it, one in another, and itself. Those that call helpers have loops in
// them, too: helpers do a tile's work or more.
class LoopHeights {
 public:
  explicit LoopHeights(const llvm::LoopInfo& loops) {
    for (const llvm::Loop* outermost : loops) Visit(*outermost);
  }
  // 0: of no loop.
  unsigned Of(const llvm::Loop* loop) const { return loop != nullptr ? heights_.lookup(loop) : 0; }

 private:
  unsigned Visit(const llvm::Loop& loop) {
    constexpr unsigned kCalled = 2;
    unsigned most = 0;
    for (const llvm::Loop* inner : loop) most = std::max(most, Visit(*inner));
    const bool calls = llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
      return llvm::any_of(*block, [](const auto& i) { return HelperOf(i) != nullptr; });
    });
    if (calls) most = std::max(most, kCalled);
    return heights_[&loop] = most + 1;
  }

  llvm::DenseMap<const llvm::Loop*, unsigned> heights_;
};

// Whether the comparison ends the loop.
bool Ends(const llvm::Instruction& compare, const llvm::Loop& loop) {
  return llvm::any_of(compare.users(), [&](const llvm::User* user) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(user);
    return branch != nullptr && llvm::any_of(branch->successors(), [&](const llvm::BasicBlock* to) {
             return !loop.contains(to);
           });
  });
}

// Whether the operand is a size, a stride or the like, which a register may hold as well.
// `innermost`: the loop that it is in, where that has no other in it; or null.
bool MayBeRead(const llvm::Use& use, const llvm::Loop* innermost) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(use.get());
  if (constant == nullptr) return false;
  if (!constant->getType()->isIntegerTy(64) && !constant->getType()->isIntegerTy(32)) return false;
  const auto& i = *llvm::cast<llvm::Instruction>(use.getUser());
  switch (i.getOpcode()) {
    case llvm::Instruction::ICmp:
      return constant->getSExtValue() >= kLeastCount || innermost == nullptr ||
             !Ends(i, *innermost);
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::Select:
    case llvm::Instruction::PHI:
    case llvm::Instruction::Freeze:
      return true;
    case llvm::Instruction::GetElementPtr:
      return i.getNumOperands() == 2;
    case llvm::Instruction::Call: {
      const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      if (intrinsic == nullptr) return true;
      const llvm::Intrinsic::ID id = intrinsic->getIntrinsicID();
      return id == llvm::Intrinsic::smin || id == llvm::Intrinsic::smax ||
             id == llvm::Intrinsic::umin || id == llvm::Intrinsic::umax;
    }
    default:
      return false;
  }
}

struct ReadableConstant {
  llvm::Use* use;
  uint32_t loop;  // as in FunctionForm::loops
};

// Those that a table may have, in the order of the code.
std::vector<ReadableConstant> ReadableConstants(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const LoopHeights heights(loops);
  llvm::DenseMap<const llvm::Loop*, uint32_t> numbers;
  std::vector<ReadableConstant> all;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    const llvm::Loop* loop = loops.getLoopFor(i.getParent());
    const unsigned height = heights.Of(loop);
    const llvm::Loop* innermost = height == 1 ? loop : nullptr;
    // Division by a constant is a multiplication.
    const bool divides_often = i.isIntDivRem() && height > 0 && height < 3;
    for (llvm::Use& use : i.operands()) {
      if (!MayBeRead(use, innermost) || (divides_often && use.getOperandNo() == 1)) continue;
      uint32_t number = 0;
      if (innermost != nullptr) {
        const auto next = static_cast<uint32_t>(numbers.size()) + 1;
        number = numbers.try_emplace(innermost, next).first->second;
      }
      all.push_back({&use, number});
    }
  }
  return all;
}

class FormMaker {
 public:
  explicit FormMaker(llvm::Function& function) : function_(function) {}

  FunctionForm Make() {
    form_.name = function_.getName().str();
    if (function_.getInstructionCount() < kLeastInstructions) return std::move(form_);
    for (const ReadableConstant& c : ReadableConstants(function_)) {
      readable_.insert(c.use);
      form_.constants.push_back(llvm::cast<llvm::ConstantInt>(c.use->get())->getSExtValue());
      form_.loops.push_back(c.loop);
    }
    Attributes(function_.getAttributes());
    Type(*function_.getFunctionType());
    for (const llvm::Argument& a : function_.args()) Number(&a);
    for (const llvm::BasicBlock& block : function_) Number(&block);
    for (const llvm::Instruction& i : llvm::instructions(function_)) Number(&i);
    for (const llvm::BasicBlock& block : function_) {
      Add(block.size());
      for (const llvm::Instruction& i : block) Instruction(i);
    }
    form_.structure = ObjectCache::KeyOf(text_);
    form_.is_shareable = is_known_;
    return std::move(form_);
  }

 private:
  void Add(uint64_t number) {
    const char* bytes = reinterpret_cast<const char*>(&number);
    text_.insert(text_.end(), bytes, bytes + sizeof number);
  }
  void Add(llvm::StringRef text) {
    Add(text.size());
    text_.insert(text_.end(), text.begin(), text.end());
  }
  void Add(const llvm::APInt& number) {
    Add(number.getBitWidth());
    for (unsigned w = 0; w < number.getNumWords(); ++w) Add(number.getRawData()[w]);
  }
  void Number(const llvm::Value* value) { numbers_.try_emplace(value, numbers_.size()); }

  void Type(const llvm::Type& type) {
    Add(type.getTypeID());
    if (type.isIntegerTy()) Add(type.getIntegerBitWidth());
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type))
      Add(vector->getNumElements());
    if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(&type)) Add(array->getNumElements());
    Add(type.getNumContainedTypes());
    for (const llvm::Type* part : type.subtypes()) Type(*part);
  }

  void Attributes(const llvm::AttributeList& attributes) {
    for (unsigned i : attributes.indexes()) {
      const std::string text = attributes.getAsString(i);
      if (text.empty()) continue;
      Add(i);
      Add(text);
    }
  }

  void Constant(const llvm::Constant& c) {
    Type(*c.getType());
    Add(c.getValueID());
    if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&c))
      return Add(integer->getValue());
    if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&c))
      return Add(number->getValueAPF().bitcastToAPInt());
    if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&c))
      return Add(data->getRawDataValues());
    if (const auto* callee = llvm::dyn_cast<llvm::Function>(&c)) return Add(callee->getName());
    if (const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(&c)) return Table(*table);
    if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&c)) {
      Add(expression->getOpcode());
      Add(expression->getRawSubclassOptionalData());
      if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(expression))
        Type(*address->getSourceElementType());
    } else if (!llvm::isa<llvm::ConstantAggregate, llvm::ConstantAggregateZero, llvm::UndefValue,
                          llvm::ConstantPointerNull>(c)) {
      is_known_ = false;
    }
    Add(c.getNumOperands());
    for (const llvm::Use& part : c.operands()) Constant(*llvm::cast<llvm::Constant>(part.get()));
  }

  // By what it holds: its name is its module's own.
  void Table(const llvm::GlobalVariable& table) {
    if (!table.hasPrivateLinkage() || !table.isConstant()) return Add(table.getName());
    Type(*table.getValueType());
    Add(table.getAlign().valueOrOne().value());
    Constant(*table.getInitializer());
  }

  void Operand(const llvm::Value& value) {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
      Add(uint64_t{1});
      return Constant(*constant);
    }
    const auto found = numbers_.find(&value);
    if (found == numbers_.end()) {
      is_known_ = false;  // metadata, assembly
      return;
    }
    Add(uint64_t{2});
    Add(found->second);
  }

  void Metadata(const llvm::Instruction& i) {
    llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> all;
    i.getAllMetadata(all);
    Add(all.size());
    for (const auto& [kind, node] : all) {
      Add(kind);
      for (const llvm::MDOperand& operand : node->operands()) {
        if (const auto* number = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(operand))
          Add(number->getValue());
        const auto* property = llvm::dyn_cast_or_null<llvm::MDNode>(operand.get());
        if (property == nullptr || property == node) continue;
        for (const llvm::MDOperand& part : property->operands()) {
          if (const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(part.get())) {
            Add(name->getString());
          } else if (const auto* n = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(part)) {
            Add(n->getValue());
          } else {
            is_known_ = false;
          }
        }
      }
    }
  }

  // What the kinds of instructions have beside operands.
  void Details(const llvm::Instruction& i) {
    if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&i)) Add(compare->getPredicate());
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
      Add(load->getAlign().value());
      is_known_ &= load->isSimple();
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      Add(store->getAlign().value());
      is_known_ &= store->isSimple();
    } else if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) {
      Type(*address->getSourceElementType());
    } else if (const auto* room = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
      Type(*room->getAllocatedType());
      Add(room->getAlign().value());
    } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
      for (const llvm::BasicBlock* block : phi->blocks()) Add(numbers_.at(block));
    } else if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i)) {
      for (int lane : shuffle->getShuffleMask()) Add(static_cast<uint64_t>(lane));
    } else if (const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&i)) {
      for (unsigned index : part->indices()) Add(index);
    } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
      Attributes(call->getAttributes());
      Add(call->getCallingConv());
      Add(call->getTailCallKind());
      is_known_ &= !call->hasOperandBundles();
    } else if (!llvm::isa<llvm::UnaryInstruction, llvm::BinaryOperator, llvm::CmpInst,
                          llvm::FreezeInst, llvm::BranchInst, llvm::SwitchInst, llvm::ReturnInst,
                          llvm::SelectInst, llvm::InsertElementInst, llvm::ExtractElementInst,
                          llvm::UnreachableInst>(i)) {
      is_known_ = false;
    }
  }

  void Instruction(const llvm::Instruction& i) {
    Add(i.getOpcode());
    Add(i.getRawSubclassOptionalData());
    Type(*i.getType());
    Details(i);
    Metadata(i);
    Add(i.getNumOperands());
    const llvm::Function* helper = HelperOf(i);
    for (const llvm::Use& use : i.operands()) {
      if (readable_.contains(&use)) {
        Add(uint64_t{3});
      } else if (use.get() == helper) {
        Add(uint64_t{4});
        Type(*helper->getFunctionType());
        Attributes(helper->getAttributes());
        form_.callees.push_back(helper->getName().str());
      } else {
        Operand(*use.get());
      }
    }
  }

  llvm::Function& function_;
  llvm::DenseSet<const llvm::Use*> readable_;
  llvm::DenseMap<const llvm::Value*, size_t> numbers_;
  std::vector<char> text_;
  bool is_known_ = true;
  FunctionForm form_;
};

}  // namespace

FunctionForm FormOf(llvm::Function& function) { return FormMaker(function).Make(); }

namespace {

// A function of a module.
struct Member {
  size_t module;
  const FunctionForm* form;
};
using Members = std::vector<Member>;

// The constants or callees that differ, as classes: those of a class are equal in each member.
// kKept: all members have the same.
template <typename T>
struct Differences {
  std::vector<uint32_t> classes;
  std::vector<std::vector<T>> values;  // of each class, one a member
};

template <typename T>
Differences<T> DifferencesOf(const Members& members, std::vector<T> FunctionForm::* all) {
  Differences<T> d;
  std::map<std::vector<T>, uint32_t> known;
  for (size_t c = 0; c < (members.front().form->*all).size(); ++c) {
    std::vector<T> values;
    for (const Member& m : members) values.push_back((m.form->*all)[c]);
    if (std::ranges::all_of(values, [&](const T& v) { return v == values.front(); })) {
      d.classes.push_back(SharedBody::kKept);
      continue;
    }
    const auto [at, is_new] = known.try_emplace(values, static_cast<uint32_t>(known.size()));
    if (is_new) d.values.push_back(std::move(values));
    d.classes.push_back(at->second);
  }
  return d;
}

// The innermost loops that would read too much of the table.
std::set<uint32_t> CrowdedLoops(const FunctionForm& form, const Differences<int64_t>& d) {
  std::map<uint32_t, std::set<uint32_t>> read;
  for (size_t c = 0; c < d.classes.size(); ++c) {
    if (form.loops[c] != 0 && d.classes[c] != SharedBody::kKept)
      read[form.loops[c]].insert(d.classes[c]);
  }
  std::set<uint32_t> crowded;
  for (const auto& [loop, classes] : read) {
    if (classes.size() > kMostInLoop) crowded.insert(loop);
  }
  return crowded;
}

// Members that are equal in the constants of these loops.
std::vector<Members> PartBy(const std::set<uint32_t>& loops, const Members& members) {
  std::map<std::vector<int64_t>, size_t> index;
  std::vector<Members> parts;  // in the order of their first members
  for (const Member& m : members) {
    std::vector<int64_t> values;
    for (size_t c = 0; c < m.form->constants.size(); ++c) {
      if (loops.contains(m.form->loops[c])) values.push_back(m.form->constants[c]);
    }
    const auto [at, is_new] = index.try_emplace(std::move(values), parts.size());
    if (is_new) parts.emplace_back();
    parts[at->second].push_back(m);
  }
  return parts;
}

void ShareAmong(const Members& members, std::vector<std::vector<SharedBody>>& all) {
  if (members.size() < 2) return;
  const auto d = DifferencesOf(members, &FunctionForm::constants);
  const std::set<uint32_t> crowded = CrowdedLoops(*members.front().form, d);
  if (!crowded.empty()) {
    for (const Members& part : PartBy(crowded, members)) ShareAmong(part, all);
    return;
  }
  const auto callees = DifferencesOf(members, &FunctionForm::callees);
  for (size_t m = 0; m < members.size(); ++m) {
    SharedBody body;
    body.function = members[m].form->name;
    body.body = "body_" + members.front().form->name;
    body.is_defined = m == 0;
    body.places = d.classes;
    for (const std::vector<int64_t>& values : d.values) body.table.push_back(values[m]);
    body.callee_places = callees.classes;
    for (const std::vector<std::string>& names : callees.values) body.callees.push_back(names[m]);
    all[members[m].module].push_back(std::move(body));
  }
}

}  // namespace

std::vector<std::vector<SharedBody>> ShareBodies(
    std::span<const std::vector<FunctionForm>* const> modules) {
  std::map<std::array<uint8_t, 32>, size_t> index;
  std::vector<Members> groups;
  for (size_t module = 0; module < modules.size(); ++module) {
    for (const FunctionForm& form : *modules[module]) {
      if (!form.is_shareable) continue;
      const auto [at, is_new] = index.try_emplace(form.structure, groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back({module, &form});
    }
  }
  std::vector<std::vector<SharedBody>> all(modules.size());
  for (const Members& group : groups) ShareAmong(group, all);
  return all;
}

namespace {

// Of the function's parameters, the table and the callees.
llvm::Function& DeclareBody(const llvm::Function& function, const SharedBody& shared,
                            llvm::Module& module) {
  llvm::FunctionType* type = function.getFunctionType();
  std::vector<llvm::Type*> params = type->params();
  params.resize(params.size() + 1 + shared.callees.size(),
                llvm::PointerType::getUnqual(function.getContext()));
  auto* body = llvm::Function::Create(llvm::FunctionType::get(type->getReturnType(), params, false),
                                      llvm::Function::ExternalLinkage, shared.body, module);
  body->setVisibility(llvm::GlobalValue::HiddenVisibility);
  body->setDSOLocal(true);
  body->setAttributes(function.getAttributes());
  return *body;
}

// The function's code becomes the body's.
void MoveInto(llvm::Function& body, llvm::Function& function, const SharedBody& shared) {
  const std::vector<ReadableConstant> constants = ReadableConstants(function);
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    if (HelperOf(i) != nullptr) calls.push_back(llvm::cast<llvm::CallInst>(&i));
  }
  body.splice(body.begin(), &function);
  for (llvm::Argument& a : function.args()) a.replaceAllUsesWith(body.getArg(a.getArgNo()));
  const auto extra = static_cast<unsigned>(function.arg_size());
  llvm::Argument* table = body.getArg(extra);
  llvm::IRBuilder<> b(&body.getEntryBlock(), body.getEntryBlock().begin());
  std::vector<llvm::Value*> values;
  const auto narrow = [&](llvm::Value* value) { return b.CreateTrunc(value, b.getInt32Ty()); };
  for (size_t i = 0; i < shared.table.size(); ++i) {
    llvm::Value* address = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), table, i);
    llvm::LoadInst* value =
        b.CreateAlignedLoad(b.getInt64Ty(), address, llvm::Align(sizeof(int64_t)));
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    values.push_back(value);
  }
  for (size_t c = 0; c < constants.size(); ++c) {
    if (shared.places[c] == SharedBody::kKept) continue;
    llvm::Use& use = *constants[c].use;
    llvm::Value*& value = values[shared.places[c]];
    use.set(use->getType()->isIntegerTy(32) ? narrow(value) : value);
  }
  for (size_t c = 0; c < calls.size(); ++c) {
    const uint32_t place = shared.callee_places[c];
    if (place == SharedBody::kKept) continue;
    calls[c]->setDoesNotThrow();
    calls[c]->setCalledOperand(body.getArg(extra + 1 + place));
  }
}

llvm::Constant* TableOf(const SharedBody& shared, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  if (shared.table.empty()) {
    return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context));
  }
  llvm::Constant* values =
      llvm::ConstantDataArray::get(context, llvm::ArrayRef<int64_t>(shared.table));
  auto* table =
      new llvm::GlobalVariable(module, values->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, values, "table_" + shared.body);
  table->setAlignment(llvm::Align(sizeof(int64_t)));
  return table;
}

void CallBody(llvm::Function& function, llvm::Function& body, const SharedBody& shared,
              bool jumps) {
  llvm::Module& module = *function.getParent();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  std::vector<llvm::Value*> args;
  for (llvm::Argument& a : function.args()) args.push_back(&a);
  args.push_back(TableOf(shared, module));
  for (const std::string& callee : shared.callees) args.push_back(module.getFunction(callee));
  llvm::CallInst* call = b.CreateCall(&body, args);
  if (jumps) call->setTailCall();
  if (call->getType()->isVoidTy()) {
    b.CreateRetVoid();
  } else {
    b.CreateRet(call);
  }
}

// What only functions called that have another body now.
void DropUnused(llvm::Module& module) {
  for (bool again = true; again;) {
    again = false;
    for (llvm::Function& f : llvm::make_early_inc_range(module)) {
      if (f.isDeclaration() || !f.hasLocalLinkage() || !f.use_empty()) continue;
      f.eraseFromParent();
      again = true;
    }
  }
  for (llvm::GlobalVariable& table : llvm::make_early_inc_range(module.globals())) {
    if (table.hasPrivateLinkage() && table.use_empty()) table.eraseFromParent();
  }
}

}  // namespace

void ApplySharedBodies(std::span<const SharedBody> bodies, llvm::Module& module, bool jumps) {
  for (const SharedBody& shared : bodies) {
    llvm::Function& function = *module.getFunction(shared.function);
    llvm::Function* body = module.getFunction(shared.body);
    if (body == nullptr) body = &DeclareBody(function, shared, module);
    if (shared.is_defined) {
      MoveInto(*body, function, shared);
    } else {
      const llvm::GlobalValue::LinkageTypes linkage = function.getLinkage();
      function.deleteBody();
      function.setLinkage(linkage);
    }
    CallBody(function, *body, shared, jumps);
  }
  if (!bodies.empty()) DropUnused(module);
}

}  // namespace relayvm::codegen
