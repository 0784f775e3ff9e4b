#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/rand.h>
// What an allocator for OpenSSL wants to know (malloc_usable_size), which Swift's Glibc module does not show.
#include <malloc.h>
