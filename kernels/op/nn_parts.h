// The files among which the definitions of nn.* that are not windows, products or norms are
// divided; DefineNn calls them all.
#pragma once

namespace relayvm {

class OpTable;

void DefineNnPad(OpTable& table);         // nn_pad.cc: padding, space and batch rearrangement
void DefineNnUpsampling(OpTable& table);  // nn_upsampling.cc
void DefineNnLoss(OpTable& table);        // nn_loss.cc
void DefineNnWindow(OpTable& table);      // nn_window.cc: deformable_conv2d, correlation
void DefineNnSparse(OpTable& table);      // nn_sparse.cc
void DefineSignal(OpTable& table);        // signal.cc: dft, stft

}  // namespace relayvm
