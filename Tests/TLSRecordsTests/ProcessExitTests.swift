import COpenSSL
import Glibc
import Sockets
import TLSRecords
import Testing

/// The process exits while threads still use OpenSSL.
struct ProcessExitTests {
    @Test func openSSLFreesNothingAtExit() async {
        await #expect(processExitsWith: .success) {
            var random: UInt8 = 0
            _ = RAND_bytes(&random, 1)
            // Called when OpenSSL starts to free its state.
            OPENSSL_atexit { _exit(1) }
            exit(0)
        }
    }
}
