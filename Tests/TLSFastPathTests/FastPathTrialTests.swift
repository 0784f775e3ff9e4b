import Testing

@testable import Sockets
@testable import TLSFastPath

/// If these fail, every connection stays with OpenSSL, which only the budget would show otherwise.
struct FastPathTrialTests {
    @Test func passesOnThisMachine() {
        #expect(FastPathTrial.result == .passed)
    }

    @Test(arguments: InterposedSymbol.allCases)
    func failsIfOneFunctionIsNotInterposed(symbol: InterposedSymbol) {
        let result = FastPathTrial.run { $0 == symbol.rawValue ? DynamicSymbol.library($0) : DynamicSymbol.resolved($0) }
        #expect(result == .failed("\(symbol.rawValue) is not interposed"))
    }

    @Test(arguments: InterposedSymbol.allCases.filter { $0 != .headerCopy })
    func failsIfAnotherLibraryTookAFunctionOver(symbol: InterposedSymbol) {
        // A function of the right name that does not lead here: another interposed one.
        let other =
            switch symbol {
            case .pending: "SSL_want"
            // Not a function of OpenSSL's, which would read the handle as a connection.
            case .pollStart: "getppid"
            default: "SSL_pending"
            }
        let result = FastPathTrial.run { DynamicSymbol.resolved($0 == symbol.rawValue ? other : $0) }
        #expect(result == .failed("\(symbol.rawValue) does not lead to this module"))
    }

    @Test func offIsOffWithoutATrial() {
        let state = TLSFastPath.state(for: .off, version: OpenSSLVersion(major: 3, minor: 0)) {
            Issue.record("tried"); return .passed
        }
        #expect(!state.isActive)
        #expect(state.cause == "configured")
    }

    @Test(arguments: [(1, 1), (3, 1), (3, 4), (3, 6), (4, 0)])
    func anUntestedOpenSSLIsLeftAlone(major: Int, minor: Int) {
        let state = TLSFastPath.state(for: .auto, version: OpenSSLVersion(major: major, minor: minor)) { .passed }
        #expect(!state.isActive)
        #expect(state.cause == "untested_openssl")
    }

    @Test func aFailedTrialSwitchesOff() {
        let state = TLSFastPath.state(for: .auto, version: OpenSSLVersion(major: 3, minor: 0)) { .failed("x") }
        #expect(!state.isActive)
        #expect(state.cause == "trial_failed")
    }

    @Test(arguments: [(3, 0), (3, 5)])
    func testedReleasesAreUsed(major: Int, minor: Int) {
        #expect(TLSFastPath.state(for: .auto, version: OpenSSLVersion(major: major, minor: minor)) { .passed }.isActive)
    }
}
