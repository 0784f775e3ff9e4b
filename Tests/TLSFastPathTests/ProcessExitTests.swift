import COpenSSL
import Glibc
import Testing

/// The end of a process in the middle of calls, as an application that has enough brings it about.
struct ProcessEndTests {
    @Test func openSSLKeepsWhatThreadsMayStillUse() async {
        await #expect(processExitsWith: .success) {
            var random: UInt8 = 0
            _ = RAND_bytes(&random, 1)
            // Called where OpenSSL begins to free what it has.
            OPENSSL_atexit { _exit(1) }
            exit(0)
        }
    }
}
