import Testing

@testable import TLSRecords

/// When records are ours and when they stay with OpenSSL.
struct RecordTrialTests {
    @Test(arguments: CipherSuite.allCases)
    func opensAndSealsWhatFollowsAHandshakeWithEachSuite(suite: CipherSuite) {
        #expect(RecordTrial.run([suite]) == .passed)
    }

    @Test func isNotRunIfTheConfigurationSaysOff() {
        let fastPath = TLSFastPath(.off, version: OpenSSLVersion(major: 3, minor: 0)) {
            Issue.record("the trial was run")
            return .passed
        }
        #expect(!fastPath.isActive)
        #expect(fastPath.cause == "configured")
    }

    @Test(arguments: [(3, 1), (3, 6), (1, 1), (4, 0)])
    func untestedReleasesOfOpenSSLKeepTheirRecords(major: Int, minor: Int) {
        let fastPath = TLSFastPath(.auto, version: OpenSSLVersion(major: major, minor: minor)) { .passed }
        #expect(!fastPath.isActive)
        #expect(fastPath.cause == "untested_openssl")
    }

    @Test func aFailedTrialKeepsRecordsWithOpenSSLAndSaysWhy() {
        let fastPath = TLSFastPath(.auto, version: OpenSSLVersion(major: 3, minor: 0)) { .failed("x") }
        #expect(!fastPath.isActive)
        #expect(fastPath.cause == "trial_failed")
        #expect(fastPath.reason.contains("x"))
    }

    @Test(arguments: [(3, 0), (3, 5)])
    func testedReleasesUseTheFastPath(major: Int, minor: Int) {
        #expect(TLSFastPath(.auto, version: OpenSSLVersion(major: major, minor: minor)) { .passed }.isActive)
    }
}
