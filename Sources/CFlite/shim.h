#pragma once
#include <flite/flite.h>

// Each voice is a library of its own without a header.
cst_voice *register_cmu_us_slt(const char *folder);
cst_voice *register_cmu_us_rms(const char *folder);
cst_voice *register_cmu_us_awb(const char *folder);
cst_voice *register_cmu_us_kal(const char *folder);
