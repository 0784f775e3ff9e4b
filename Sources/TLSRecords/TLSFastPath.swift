internal import COpenSSL

/// Whether records after the handshake are sealed and opened by this module instead of by OpenSSL.
package struct TLSFastPath: Sendable, Hashable {
    /// Configuration: `tls: {fast_path: auto | off}`.
    package enum Mode: String, CaseIterable, Sendable {
        /// On if this OpenSSL is one that was tested and the trial passes.
        case auto
        /// OpenSSL processes all records.
        case off
    }

    /// As configured.
    package let mode: Mode
    package let isActive: Bool
    /// Why it is active or not: the label value in metrics.
    package let cause: String
    /// The same as a phrase for logs.
    package let reason: String

    package init(_ mode: Mode) {
        self.init(mode, version: OpenSSLVersion.running) { RecordTrial.result }
    }

    init(_ mode: Mode, version: OpenSSLVersion, trial: () -> RecordTrial.Result) {
        self.mode = mode
        guard mode == .auto else {
            (isActive, cause, reason) = (false, "configured", "switched off by configuration")
            return
        }
        guard version.isTested else {
            (isActive, cause) = (false, "untested_openssl")
            reason = "OpenSSL \(version) is not one of the tested releases (\(OpenSSLVersion.testedNames))"
            return
        }
        switch trial() {
        case .passed: (isActive, cause, reason) = (true, "trial_passed", "OpenSSL \(version), trial passed")
        case .failed(let step): (isActive, cause, reason) = (false, "trial_failed", "the trial failed: \(step)")
        }
    }
}

/// A release of OpenSSL, without its patch level: patches change no interface.
struct OpenSSLVersion: Hashable, CustomStringConvertible {
    var major: Int
    var minor: Int

    /// The releases that the test suite was run with: Debian 12 has 3.0, Debian 13 has 3.5.
    static let tested = [OpenSSLVersion(major: 3, minor: 0), OpenSSLVersion(major: 3, minor: 5)]
    static var testedNames: String { tested.map { "\($0)" }.joined(separator: ", ") }

    static var running: OpenSSLVersion {
        OpenSSLVersion(major: Int(OPENSSL_version_major()), minor: Int(OPENSSL_version_minor()))
    }

    var isTested: Bool { Self.tested.contains(self) }
    var description: String { "\(major).\(minor)" }
}

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
