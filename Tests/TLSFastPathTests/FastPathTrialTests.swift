import Testing

@testable import Sockets

/// Where these fail every connection stays OpenSSL's, and nothing but the budget would show it.
struct TakeoverTests {
    @Test func thisOpenSSLTellsWhatIsNeeded() {
        #expect(TakeoverTrial.isPassed)
    }

    @Test func lwsFindsOurFunctions() {
        #expect(LibraryTLS.isInEffect)
    }
}
