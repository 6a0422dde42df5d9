#include "kernels/codegen/contraction/amx.h"

#include <fmt/format.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>
#include <vector>

namespace relayvm::codegen {

using llvm::Value;

namespace {

constexpr unsigned kTileRegisters = 8;
// The first registers of C, A and B.
constexpr unsigned kFirstC = 0, kFirstA = 4, kFirstB = 6;
constexpr int64_t kWordBytes = 4;

// The operand of LDTILECFG (Intel SDM vol. 2): palette 1, all registers whole.
llvm::Constant* Configuration(llvm::Module& module) {
  constexpr const char* kName = "amx_configuration";
  if (llvm::GlobalVariable* known = module.getGlobalVariable(kName, /*AllowInternal=*/true))
    return known;
  std::array<uint8_t, 64> bytes{};
  bytes[0] = 1;
  for (unsigned t = 0; t < kTileRegisters; ++t) {
    bytes[16 + 2 * t] = kAmxTile * kWordBytes;  // of a row
    bytes[48 + t] = kAmxTile;                   // rows
  }
  llvm::Constant* value = llvm::ConstantDataArray::get(module.getContext(), bytes);
  auto* global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, kName);
  global->setAlignment(llvm::Align(64));
  return global;
}

// The byte that names a register in an instruction.
Value* Number(Builder& b, unsigned tile) { return b.getInt8(static_cast<uint8_t>(tile)); }

llvm::Intrinsic::ID ProductOf(const AmxConfig& config) {
  if (config.form == PanelForm::kPairs) return llvm::Intrinsic::x86_tdpbf16ps;
  return config.a_is_unsigned ? llvm::Intrinsic::x86_tdpbusd : llvm::Intrinsic::x86_tdpbsud;
}

void DefineTile(Builder& b, llvm::Function* function, const AmxConfig& config) {
  Value *a = function->getArg(0), *panel = function->getArg(1), *tail = function->getArg(2),
        *c = function->getArg(3), *words = function->getArg(4), *accumulate = function->getArg(5);
  llvm::Type* word = b.getInt32Ty();
  auto at = [&](Value* base, unsigned row, int64_t stride, unsigned column) {
    return At(b, word, base, kAmxTile * (row * stride + column));
  };
  auto load = [&](unsigned tile, Value* from, int64_t stride) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                      {Number(b, tile), from, I64(b, stride * kWordBytes)});
  };
  auto for_sums = [&](const std::function<void(unsigned tile, unsigned row, unsigned column)>& fn) {
    for (unsigned row = 0; row < config.row_tiles; ++row) {
      for (unsigned column = 0; column < config.column_tiles; ++column)
        fn(kFirstC + 2 * row + column, row, column);
    }
  };
  If(
      b, accumulate,
      [&] {
        for_sums([&](unsigned tile, unsigned row, unsigned column) {
          load(tile, at(c, row, config.c_row_stride, column), config.c_row_stride);
        });
      },
      [&] {
        for_sums([&](unsigned tile, unsigned, unsigned) {
          b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {Number(b, tile)});
        });
      });
  auto step = [&](Value* of_a, Value* of_b, int64_t b_stride) {
    for (unsigned column = 0; column < config.column_tiles; ++column)
      load(kFirstB + column, at(of_b, 0, b_stride, column), b_stride);
    for (unsigned row = 0; row < config.row_tiles; ++row)
      load(kFirstA + row, at(of_a, row, config.a_row_stride, 0), config.a_row_stride);
    for_sums([&](unsigned tile, unsigned row, unsigned column) {
      b.CreateIntrinsic(ProductOf(config), {},
                        {Number(b, tile), Number(b, kFirstA + row), Number(b, kFirstB + column)});
    });
  };
  Value* whole = b.CreateAnd(words, I64(b, -kAmxTile));
  For(b, I64(b, 0), whole, kAmxTile, "k", [&](Value* k) {
    step(At(b, word, a, k), At(b, word, panel, Mul(b, k, config.b_row_stride)),
         config.b_row_stride);
  });
  If(b, b.CreateICmpSLT(whole, words),
     [&] { step(At(b, word, a, whole), tail, config.tail_row_stride); });
  for_sums([&](unsigned tile, unsigned row, unsigned column) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                      {Number(b, tile), at(c, row, config.c_row_stride, column),
                       I64(b, config.c_row_stride * kWordBytes)});
  });
}

}  // namespace

const DotProduct* TilesOf(const ContractionDetail& d) {
  if (d.panel_form == PanelForm::kPairs) return d.target.tiles.pairs;
  return d.panel_form == PanelForm::kQuads ? d.target.tiles.quads : nullptr;
}

bool TakesAmx(const ContractionDetail& d) {
  if (TilesOf(d) == nullptr) return false;
  if (d.form != ContractionForm::kMatrix && d.form != ContractionForm::kPixelRows) return false;
  if (d.lanes != kAmxTile || d.vectors > 2 || !d.a.k_contiguous || d.rounds) return false;
  // Sums of integers are the same in any order.
  if (d.order.form != SumOrder::Form::kAny && d.panel_form != PanelForm::kQuads) return false;
  if (d.target.schedule.rows > 0) return false;
  return !d.rows.is_const() || d.rows.value() > kMostRowsWithoutAmx;
}

void EmitAmxConfigure(Builder& b) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {Configuration(module)});
}

void EmitAmxRelease(Builder& b) { b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {}); }

void EmitAmxTail(ContractionContext& c, Value* panel, Value* words, int64_t stride,
                 Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  Value* whole = b.CreateAnd(words, I64(b, -kAmxTile));
  Value* rest = Sub(b, words, whole);
  auto for_vectors = [&](Value* row, const std::function<Value*(int64_t at)>& value) {
    Value* to = At(b, c.element, destination, Mul(b, row, d.panel));
    for (int64_t at = 0; at < d.panel; at += d.lanes)
      c.StoreLanes(value(at), At(b, c.element, to, at));
  };
  If(b, b.CreateICmpNE(rest, I64(b, 0)), [&] {
    For(b, I64(b, 0), rest, 1, "tail", [&](Value* row) {
      Value* from = At(b, c.element, panel, Mul(b, Add(b, whole, row), stride));
      for_vectors(row, [&](int64_t at) {
        return b.CreateAlignedLoad(c.vector, At(b, c.element, from, at),
                                   llvm::Align(c.element_bytes));
      });
    });
    For(b, rest, I64(b, kAmxTile), 1, "tail.zero", [&](Value* row) {
      for_vectors(row, [&](int64_t) { return llvm::Constant::getNullValue(c.vector); });
    });
  });
}

void EmitAmxCall(Builder& builder, const AmxConfig& config, const TileCall& call) {
  llvm::Type* ptr = builder.getPtrTy();
  const std::vector<llvm::Type*> params = {
      ptr, ptr, ptr, ptr, builder.getInt64Ty(), builder.getInt1Ty()};
  const char* form = config.form == PanelForm::kPairs ? "pairs"
                     : config.a_is_unsigned           ? "us"
                                                      : "su";
  const std::string name = fmt::format(
      "amx_{}_{}x{}_a{}_b{}_t{}_c{}", form, config.row_tiles, config.column_tiles,
      config.a_row_stride, config.b_row_stride, config.tail_row_stride, config.c_row_stride);
  llvm::Function* tile = GetOrDefineHelper(
      builder, name, params,
      [&](Builder& b, llvm::Function* function) { DefineTile(b, function, config); });
  builder.CreateCall(tile, {call.a, call.b, call.tail, call.c, call.k, call.accumulate});
}

}  // namespace relayvm::codegen
