import Testing

@testable import Sockets

/// The client's address by `X-Forwarded-For`.
struct ProxyTrustTests {
    private let trust: ProxyTrust

    init() throws {
        trust = ProxyTrust(networks: [try IPNetwork("10.0.0.0/8"), try IPNetwork("::1")])
    }

    private func client(of peer: String = "10.0.0.1", _ field: String?) throws -> String {
        let client = trust.client(of: try #require(IPAddress(peer)), forwardedFor: field)
        return "\(client.address)" + (client.isMalformed ? ", malformed" : "")
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("203.0.113.9, 192.0.2.1", "192.0.2.1"), ("192.0.2.1, 10.0.0.9", "192.0.2.1"),
        ("192.0.2.1,10.0.0.9,10.0.0.8", "192.0.2.1"), ("10.0.0.7", "10.0.0.7"), (" 192.0.2.1\t,, ", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"), ("2001:db8::7", "2001:db8::7"), ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:443, ::1", "2001:db8::7"), ("::ffff:192.0.2.1", "192.0.2.1"), ("", "10.0.0.1"),
    ])
    func rightmostUntrustedAddressIsTheClient(field: String, expected: String) throws {
        #expect(try client(field) == expected)
    }

    @Test func untrustedPeerIsTheClientWhateverItClaims() throws {
        #expect(try client(of: "192.0.2.9", "127.0.0.1") == "192.0.2.9")
        #expect(try client(of: "192.0.2.9", "nonsense") == "192.0.2.9")
    }

    @Test func withoutTheHeaderTheProxyIsTheClient() throws {
        #expect(try client(nil) == "10.0.0.1")
    }

    /// Whatever is left of the proxy's own entry comes from the client.
    @Test func inventedEntriesAreNotEvenRead() throws {
        #expect(try client("unknown, 127.0.0.1, 10.0.0.3, 192.0.2.1") == "192.0.2.1")
    }

    @Test(arguments: ["unknown", "_hidden", "192.0.2.1:", "192.0.2.1:123456", "[192.0.2.1", "[::1]x", "1.2.3.4.5", "for=192.0.2.1", "[]"])
    func malformedEntryEndsTheSearchAtItsRightNeighbour(entry: String) throws {
        #expect(try client("192.0.2.5, \(entry)") == "10.0.0.1, malformed")
        #expect(try client("\(entry), 10.0.0.9") == "10.0.0.9, malformed")
    }
}
