import Testing

@testable import Sockets

struct IPAddressTests {
    @Test(arguments: ["192.0.2.1", "0.0.0.0", "255.255.255.255", "2001:db8::1", "::", "::1", "fe80::1:2:3:4"])
    func addressesAreWrittenAsTheyAreRead(text: String) {
        #expect(IPAddress(text)?.description == text)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "1.2.3.4\0x", "::1%eth0", "[::1]", "1::2::3", "localhost", "12345::",
    ])
    func otherTextsAreNoAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func mappedAddressIsTheIPv4Address() {
        #expect(IPAddress("::ffff:192.0.2.1") == IPAddress("192.0.2.1"))
        #expect(IPAddress("::fffe:192.0.2.1")?.isIPv6 == true)
    }

    @Test func limitsSeeTheNetworkOfAnIPv6Address() {
        #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.forLimits == "2001:db8:1:2::")
        #expect(IPAddress("192.0.2.77")?.forLimits == "192.0.2.77")
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("192.0.2.7", "192.0.2.7", "192.0.2.8"), ("0.0.0.0/0", "203.0.113.9", "::1"),
        ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"), ("::1", "::1", "::2"), ("::/0", "fe80::1", "127.0.0.1"),
        ("192.0.2.128/25", "192.0.2.128", "192.0.2.127"), ("10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.1.2.3"),
    ])
    func networkContainsItsAddressesOnly(network: String, inside: String, outside: String) throws {
        let network = try IPNetwork(network)
        #expect(network.contains(try #require(IPAddress(inside))))
        #expect(!network.contains(try #require(IPAddress(outside))))
    }

    @Test(arguments: [
        ("proxy.example", "is no address or network; write it as 10.0.0.7"), ("10.0.0.0/33", "must be between 0 and 32"),
        ("2001:db8::/129", "must be between 0 and 128"), ("10.0.0.0/", "must be between 0 and 32"), ("10.0.0.0/-1", "must be between"),
        ("10.0.0.0/+8", "must be between"), ("10.0.0.7/8", "write 10.0.0.0/8, or 10.0.0.7 for one address"), ("", "is no address"),
    ])
    func otherNetworksAreRefusedWithTheRemedy(text: String, says: String) throws {
        let error = try #require(throws: IPNetworkError.self) { try IPNetwork(text) }
        #expect("\(error)".contains(says), "\(error)")
    }
}
