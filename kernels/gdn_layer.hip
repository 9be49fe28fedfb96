// A whole gated delta net between its projections.
#include "include/gdn_layer_any.h"
#include "include/gdn_layer_convolve.h"
#include "include/gdn_layer_finish.h"
#include "include/gdn_layer_group.h"
#include "include/gdn_layer_step.h"
#include "include/gdn_prepare.h"
#include "include/gdn_scan.h"

// Few tokens: the recurrence, which convolves for itself.
// VGPRs: at most 64
PK_KERNEL(gdn_layer_step_32, 128, gdn_layer_args) { step_layer<32, false, float>(p); }
// VGPRs: at most 80
PK_KERNEL(gdn_layer_step_64, 128, gdn_layer_args) { step_layer<64, false, float>(p); }
// VGPRs: at most 120
PK_KERNEL(gdn_layer_step_128, 128, gdn_layer_args) { step_layer<128, false, float>(p); }

// The norm and the history, at the end of both.
// VGPRs: at most 48
PK_KERNEL(gdn_layer_finish_32, 128, gdn_layer_args) { finish_layer<32>(p); }
// VGPRs: at most 48
PK_KERNEL(gdn_layer_finish_64, 128, gdn_layer_args) { finish_layer<64>(p); }
// VGPRs: at most 48
PK_KERNEL(gdn_layer_finish_128, 128, gdn_layer_args) { finish_layer<128>(p); }

// Many short segments: all at once.
// VGPRs: at most 64
PK_KERNEL_BLOCKS(gdn_layer_group_32, 128, 8, gdn_layer_args) { group_layer<32>(p); }
// VGPRs: at most 80
PK_KERNEL_BLOCKS(gdn_layer_group_64, 256, 4, gdn_layer_args) { group_layer<64>(p); }
// VGPRs: at most 120
PK_KERNEL_BLOCKS(gdn_layer_group_128, 256, 4, gdn_layer_args) { group_layer<128>(p); }

// Many tokens, in f32: the convolution, and the recurrence behind it.
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_32, 128, gdn_layer_args) { convolve_layer<32, float>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_64, 128, gdn_layer_args) { convolve_layer<64, float>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_128, 128, gdn_layer_args) { convolve_layer<128, float>(p); }
// VGPRs: at most 48
PK_KERNEL(gdn_layer_rest_32, 128, gdn_layer_args) { step_layer<32, true, float>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_rest_64, 128, gdn_layer_args) { step_layer<64, true, float>(p); }
// VGPRs: at most 96
PK_KERNEL(gdn_layer_rest_128, 128, gdn_layer_args) { step_layer<128, true, float>(p); }

// Many tokens, in halves: convolution, chunks on matrix units, and what they leave over.
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_half_32, 128, gdn_layer_args) { convolve_layer<32, pk_h>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_half_64, 128, gdn_layer_args) { convolve_layer<64, pk_h>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_convolve_half_128, 128, gdn_layer_args) { convolve_layer<128, pk_h>(p); }
// VGPRs: at most 80
PK_KERNEL(gdn_layer_prepare_32, 128, gdn_layer_args) { prepare_chunk<32>(p); }
// VGPRs: at most 120
PK_KERNEL(gdn_layer_prepare_64, 128, gdn_layer_args) { prepare_chunk<64>(p); }
// VGPRs: at most 144
PK_KERNEL(gdn_layer_prepare_128, 128, gdn_layer_args) { prepare_chunk<128>(p); }
// VGPRs: at most 216
PK_KERNEL_WAVES(gdn_layer_scan_32, 128, 7, gdn_layer_args) { scan_chunks<32>(p); }
// VGPRs: at most 216
PK_KERNEL_WAVES(gdn_layer_scan_64, 128, 7, gdn_layer_args) { scan_chunks<64>(p); }
// VGPRs: at most 240
PK_KERNEL_WAVES(gdn_layer_scan_128, 128, 6, gdn_layer_args) { scan_chunks<128>(p); }
// VGPRs: at most 48
PK_KERNEL(gdn_layer_rest_half_32, 128, gdn_layer_args) { step_layer<32, true, pk_h>(p); }
// VGPRs: at most 64
PK_KERNEL(gdn_layer_rest_half_64, 128, gdn_layer_args) { step_layer<64, true, pk_h>(p); }
// VGPRs: at most 96
PK_KERNEL(gdn_layer_rest_half_128, 128, gdn_layer_args) { step_layer<128, true, pk_h>(p); }
