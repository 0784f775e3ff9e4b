internal import COpenSSL

/// Keeps OpenSSL from freeing its state in `exit`.
///
/// By default OpenSSL frees everything when `exit` runs, while loop threads still close their last connections. About one exit in a
/// thousand crashed in `pthread_rwlock_unlock` or in the allocator. The kernel reclaims the memory in any case.
private func disableOpenSSLExitHandler() {
    // Must precede any other call to OpenSSL, from whatever module it comes (OPENSSL_init_crypto(3)).
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}

/// Runs before `main` (System V ABI, generic part, "Initialization and Termination Functions").
@used @section(".init_array") private let beforeMain: @convention(c) () -> Void = disableOpenSSLExitHandler
