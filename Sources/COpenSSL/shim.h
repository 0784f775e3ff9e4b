#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/rand.h>
// A cipher's functions, and what they are asked with.
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/provider.h>
// What an allocator for OpenSSL wants to know (malloc_usable_size), which Swift's Glibc module does not show.
#include <malloc.h>
