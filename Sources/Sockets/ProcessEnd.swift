internal import COpenSSL

/// What OpenSSL does when the process ends: nothing.
///
/// By itself it frees all it has when `exit` is called, and so under the hands of the threads that go on until the process is gone: of loops
/// that close their last connections, or of an application that ends in the middle of a call. Once in a thousand ends that was a crash, in
/// `pthread_rwlock_unlock` or in the allocator, after all had been done. The memory goes back with the process in any case.
private func leaveAllToTheSystem() {
    // It must be told before it is asked for anything else, and whoever asks first may not be of this module (OPENSSL_init_crypto(3)).
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}

/// Called before `main`, like each address in this section (System V ABI, generic part, "Initialization and Termination Functions").
@used @section(".init_array") private let atStart: @convention(c) () -> Void = leaveAllToTheSystem
