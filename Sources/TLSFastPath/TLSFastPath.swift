internal import COpenSSL
package import Sockets

/// The server's record layer: checks requests and client frames, and after the handshake seals and opens TLS records itself where that is
/// safe.
///
/// Linked only into programs that run gateways or swarms of test clients, because it defines functions of OpenSSL, libwebsockets and libuv
/// anew for the whole process. README.md in this folder lists them.
package struct TLSFastPath: RecordLayer {
    /// Configuration: `tls: {fast_path: auto | off}`.
    package enum Mode: String, CaseIterable, Sendable {
        /// On if this OpenSSL is one that was tested and the trial passes.
        case auto
        /// OpenSSL processes all records.
        case off
    }

    /// As configured.
    package let mode: Mode
    package let state: RecordLayerState

    package init(_ mode: Mode) {
        self.mode = mode
        state = Self.state(for: mode, version: OpenSSLVersion.running) { FastPathTrial.result }
    }

    static func state(for mode: Mode, version: OpenSSLVersion, trial: () -> FastPathTrial.Result) -> RecordLayerState {
        guard mode == .auto else { return RecordLayerState(isActive: false, cause: "configured", reason: "switched off by configuration") }
        guard version.isTested else {
            return RecordLayerState(
                isActive: false, cause: "untested_openssl",
                reason: "OpenSSL \(version) is not one of the tested releases (\(OpenSSLVersion.testedNames))")
        }
        switch trial() {
        case .passed: return RecordLayerState(isActive: true, cause: "trial_passed", reason: "OpenSSL \(version), trial passed")
        case .failed(let step): return RecordLayerState(isActive: false, cause: "trial_failed", reason: "the trial failed: \(step)")
        }
    }

    package func configure(_ tlsContext: OpaquePointer) {
        unsafe GatedContexts.add(tlsContext)
        if state.isActive { unsafe HandshakeSecrets.record(of: tlsContext) }
    }

    package func makeLoopLayer(for loop: Loop, handles: LoopHandles) -> LoopRecordLayer {
        FastPathLoop(handles: handles, clock: loop.clock, isActive: state.isActive)
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
