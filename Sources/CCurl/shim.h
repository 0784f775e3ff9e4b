#pragma once
// Functions with variable arguments, which Swift cannot import.
#include <curl/curl.h>

typedef size_t (*patchbay_curl_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode patchbay_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode patchbay_curl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode patchbay_curl_set_callback(CURL *easy, CURLoption option, patchbay_curl_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode patchbay_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline void *patchbay_curl_private(CURL *easy) {
    void *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}
